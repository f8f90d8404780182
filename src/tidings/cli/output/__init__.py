"""What commands print: tables, live answers, progress, errors with their place."""
