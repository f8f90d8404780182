"""What commands take in: arguments, files, texts with bindings, and calls to a broker."""
