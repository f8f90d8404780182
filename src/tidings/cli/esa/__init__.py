"""The actions of `tidings esa`."""
