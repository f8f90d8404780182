"""The input of commands: arguments, files, texts with bindings, and calls to a broker."""
