"""The clients that are registered with our own authorisation server.

client        one client
identities    which identities may register, and which roles and scopes they get
secrets       hashes of secrets, computed in threads
credentials   all clients, durable
"""
