"""The ESA index on Spark: from a dump of a wiki, or from WordNet, to the arrays that are served.

    dump, wikitext, sources  ->  counting  ->  postings  ->  serving
                                     build: all of it, in rounds that are not done twice

dump       pages of a MediaWiki dump, in pieces that can be read in any order
wikitext   what a page says, without its markup
sources    what can be indexed: a dump, WordNet
counting   pieces to counts of terms, in Python workers
postings   counts to weights, and for each term the concepts that weigh most, in Spark's SQL
serving    the index in Parquet to the arrays of `lexicons/esa`
build      the job, which goes on where it was ended
"""
