"""Builds an ESA index on Spark, from a dump of a wiki or from WordNet, as arrays for matching.

    dump, wikitext, sources  ->  counting  ->  postings  ->  serving
                                     build: the whole job, in rounds

dump       divides a MediaWiki dump into pieces that can be read in any order
pages      the pages of a piece
wikitext   the text of a page, without its markup
sources    what can be indexed: a dump, WordNet
counting   counts the terms of pieces, in Python workers
postings   computes weights from counts, and for each term the concepts with the greatest weights
serving    converts the index from Parquet to the arrays of `lexicons/esa`
build      the job, which resumes after an interruption
"""
