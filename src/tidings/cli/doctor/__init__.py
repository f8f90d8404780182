"""The checks of `tidings doctor`, each a function that gives a `Finding`.

No check changes anything, and none needs a package outside of Python's standard library, because any other package may
be what is missing.
"""
