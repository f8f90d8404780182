"""What tokens are signed with.

signing_key   a key of ours or of somebody else: its algorithm, its name, its public half
key_ring      the key that signs, and those that did: their tokens count until they have expired
key_vault     where private halves are kept: files that nobody else can read, or memory
"""
