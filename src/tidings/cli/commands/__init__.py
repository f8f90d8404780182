"""One module for each command: `parser()` defines its arguments, `run(arguments)` executes it."""
