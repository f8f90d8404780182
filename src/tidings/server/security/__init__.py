"""Security switched on: the authority of the broker that is served, and the guard that its gates ask.

assembly      settings to a running authority; begin here
guard         who shows what, what they may do, and a record of it
presences     whoever stays, and learns that their rights have changed
choices       the settings of security from flags, the environment and files
certificates  a local authority, and what it signs: to try TLS with
"""
