"""The log as the units of a job see it."""
