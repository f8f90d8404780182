"""An ESA index on disk, in the form that is served: arrays that are mapped, not read.

    esa.json                      what it was made of and how, with the size and the digest of each file
    terms.bin, term_ends.npy      the terms, ordered by their bytes
    idf.npy, starts.npy           of each term
    concepts.npy, weights.npy     of each term one after the other
    titles.bin, title_ends.npy    of the concepts

folder    opens one, and checks it
writing   writes one, in pieces
pairs     pairs of words with the judgement of people, to see how good an index is
"""
