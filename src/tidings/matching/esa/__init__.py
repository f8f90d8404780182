"""Explicit semantic analysis (ESA): the meaning of a word is the set of documents it is about, each with a weight.

terms      from text to terms: stemmed words, without stop words
stems      words without their endings
formulas   TF-IDF, normalisation, the vector of a phrase, the cosine
related    relatedness of phrases by an index, with bounded memory
"""
