"""What can go wrong with what is known about words; branches of the tree in `model/errors.py`.

TidingsError
├── WordNetMissing       wordnet_missing       501   no folder of WordNet's database files
├── WordNetDamaged       wordnet_damaged       500   a line that is none of WordNet's
├── MobyMissing          moby_missing          501   no Moby Thesaurus, or a file that is none
├── ModelDamaged         minilm_damaged        500   a file of a sentence transformer is missing, or is none
├── IndexUnusable        esa_unusable          404   no ESA index in a folder, or of another version
├── IndexDamaged         esa_damaged           500   a file of an ESA index is missing, or not what was written
└── PairsUnreadable      pairs_unreadable      400   a line of a file of word pairs
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
