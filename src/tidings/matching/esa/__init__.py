"""Explicit semantic analysis: what a word means is the documents it is about, each with a weight.

terms      text to terms: words without endings, without those that say nothing
stems      words without their endings
formulas   TF-IDF, normalisation, the vector of a phrase, the cosine
related    relatedness of phrases by an index, with bounded memory
"""
