"""An ESA index on disk, as arrays that are mapped into memory, not read.

    esa.json                      the manifest: its source and parameters, and the size and the digest of each file
    terms.bin, term_ends.npy      the terms, ordered by their bytes
    idf.npy, starts.npy           of each term
    concepts.npy, weights.npy     of each term one after the other
    titles.bin, title_ends.npy    of the concepts

folder    opens and checks an index
writing   writes an index, in pieces
pairs     pairs of words with human judgements, to measure the quality of an index
"""
