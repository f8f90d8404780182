"""The Moby Thesaurus, from the file in npm's package moby: words with lists of synonyms.

finding   finds the file
lookup    looks up synonyms
"""
