"""How a job is: how far, how fast, how large."""
