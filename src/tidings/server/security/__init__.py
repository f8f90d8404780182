"""Security of the server: the authority of its broker, and the guard that the gates ask.

assembly      builds and runs security by the settings; read this first
guard         authenticates clients by their tokens, finds their rights, and records what they do
presences     clients that stay connected, and get changes of their rights
choices       the settings of security from flags, the environment and files
certificates  a local certificate authority, and certificates that it signs, to try TLS
"""
