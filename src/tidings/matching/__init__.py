"""Approximate semantic matching: events and subscriptions whose words differ but mean the same.

`language` defines events and subscriptions, and reads them; `relatedness` is the interface to backends that know how
related words are; `matcher` finds the best mappings of predicates to tuples. No module here does I/O or reads a clock:
`lexicons` reads files. `language` and `relatedness` can be imported without numpy.
"""
