"""One module for each command: `parser()` says what it takes, `run(arguments)` does it."""
