"""The errors of lexicons: branches of the tree in `model/errors.py`.

TidingsError
├── WordNetMissing       wordnet_missing       501   no folder of WordNet's database files
├── WordNetDamaged       wordnet_damaged       500   a line that is not in WordNet's format
├── MobyMissing          moby_missing          501   no Moby Thesaurus, or a file that is not one
├── ModelDamaged         minilm_damaged        500   a file of the sentence transformer is missing or damaged
├── IndexUnusable        esa_unusable          404   a folder without an ESA index, or with one of another version
├── IndexDamaged         esa_damaged           500   a file of an ESA index is missing, or differs from the manifest
└── PairsUnreadable      pairs_unreadable      400   a malformed line in a file of word pairs
"""

from tidings.model.errors import TidingsError


class WordNetMissing(TidingsError):
    status = 501
    code = "wordnet_missing"


class WordNetDamaged(TidingsError):
    code = "wordnet_damaged"


class MobyMissing(TidingsError):
    status = 501
    code = "moby_missing"


class ModelDamaged(TidingsError):
    code = "minilm_damaged"


class IndexUnusable(TidingsError):
    status = 404
    code = "esa_unusable"


class IndexDamaged(TidingsError):
    code = "esa_damaged"


class PairsUnreadable(TidingsError):
    status = 400
    code = "pairs_unreadable"
