"""Who is registered with our own authorisation server.

client        one of them
identities    who may register, and what comes with it
secrets       hashes of secrets, worked out beside the loop
credentials   all of them, durable
"""
