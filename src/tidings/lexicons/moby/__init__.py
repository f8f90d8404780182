"""The Moby Thesaurus, from the file that npm's package moby brings: words, and what may stand for them.

finding   where it is
lookup    the lists of words
"""
