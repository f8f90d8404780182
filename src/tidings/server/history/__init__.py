"""The history lake of a broker: how far it reaches, and the process that answers questions about it."""
