"""The actions of `tidings stream`."""
