"""Commands to publish, query and subscribe, at a broker or on files."""
