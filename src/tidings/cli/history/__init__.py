"""The actions of `tidings history`."""
