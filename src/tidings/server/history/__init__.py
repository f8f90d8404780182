"""A history lake behind a broker: how far it reaches, and the process that is asked about it."""
