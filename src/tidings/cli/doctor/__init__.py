"""The checks of `tidings doctor`, each a function that gives a `Finding`.

None of them changes anything, and none needs a package beyond Python's own: what it is there to find missing, it must
not need.
"""
