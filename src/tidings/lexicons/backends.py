"""The relatedness backends by their names, loaded when they are asked for.

static      word vectors, and WordNet where it is installed: the default
vectors     word vectors alone
esa         explicit semantic analysis, from an index in a folder
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.extras import needing
from tidings.lexicons.errors import IndexUnusable, WordNetMissing

if TYPE_CHECKING:
    from tidings.matching.matcher.scores import Knowledge
    from tidings.matching.relatedness import Relatedness


class Backend(StrEnum):
    STATIC = "static"
    VECTORS = "vectors"
    ESA = "esa"


def load_knowledge(
    backend: Backend = Backend.STATIC, *, index: Path | None = None, wordnet: Path | None = None
) -> "Knowledge":
    """What a backend knows of words. Raises ExtraMissing, IndexUnusable, and WordNetMissing if a folder was named."""
    with needing("approximate matching needs numpy and scipy", "matching"):
        from tidings.matching.matcher.scores import Knowledge
        from tidings.matching.opposites import AllOpposites, BuiltInOpposites
    from tidings.lexicons.wordnet.lookup import load_wordnet

    try:
        lexicon = None if backend is Backend.VECTORS else load_wordnet(wordnet)
    except WordNetMissing:
        if wordnet is not None:
            raise
        lexicon = None
    opposites = BuiltInOpposites() if lexicon is None else AllOpposites(BuiltInOpposites(), lexicon)
    if backend is Backend.ESA:
        return Knowledge(_esa(index), opposites)
    from tidings.lexicons.static_vectors import load_static_vectors
    from tidings.matching.defaults import static_relatedness

    return Knowledge(static_relatedness(load_static_vectors(), lexicon), opposites)


def _esa(index: Path | None) -> "Relatedness":
    if index is None:
        raise IndexUnusable("the backend esa needs an index: `tidings esa build` makes one")
    from tidings.lexicons.esa.folder import open_index
    from tidings.matching.esa.related import EsaRelatedness

    return EsaRelatedness(open_index(index))
