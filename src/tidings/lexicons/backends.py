"""The relatedness backends by their names, each loaded when it is first used.

static      word vectors, and WordNet and the Moby Thesaurus where they are installed: the default
vectors     word vectors alone
minilm      static, and a sentence transformer, which relates a description to the word for the same thing
esa         explicit semantic analysis, from an index in a folder
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.extras import needing
from tidings.lexicons.errors import IndexUnusable, MobyMissing, WordNetMissing

if TYPE_CHECKING:
    from tidings.lexicons.moby.lookup import Moby
    from tidings.lexicons.wordnet.lookup import WordNet
    from tidings.matching.matcher.scores import Knowledge


_WITHOUT = {
    "static": "without WordNet, only word vectors say what words mean, and fewer synonyms are found",
    "minilm": "without WordNet, only vectors say what words mean, and fewer synonyms are found",
    "esa": "without WordNet, only a short list says which words are opposites",
}


class Backend(StrEnum):
    STATIC = "static"
    VECTORS = "vectors"
    MINILM = "minilm"
    ESA = "esa"


def load_knowledge(
    backend: Backend = Backend.STATIC,
    *,
    index: Path | None = None,
    wordnet: Path | None = None,
    moby: Path | None = None,
) -> "Knowledge":
    """The knowledge of a backend. Raises ExtraMissing, IndexUnusable, ModelDamaged; WordNetMissing or MobyMissing only
    if the caller names a folder or file."""
    with needing("approximate matching needs numpy and scipy", "matching"):
        from tidings.matching.defaults import vectors_alone, vectors_with_thesaurus
    from tidings.lexicons.static_vectors import load_static_vectors

    if backend is Backend.ESA:
        return _esa(index, _wordnet(wordnet))
    lexicon = None if backend is Backend.VECTORS else _wordnet(wordnet)
    vectors, phrases = load_static_vectors(), None
    if backend is Backend.MINILM:
        from tidings.lexicons.minilm import load_sentence_vectors

        phrases = load_sentence_vectors()
    if lexicon is None:
        return vectors_alone(vectors, phrases)
    return vectors_with_thesaurus(vectors, lexicon, lexicon, phrases, _moby(moby))


def lacking(backend: Backend, wordnet: Path | None = None, moby: Path | None = None) -> str | None:
    """A message about the lexicons that a backend could use and does not find, and how to get them; None if it has all.
    A lexicon that the caller names counts as found."""
    if backend is Backend.VECTORS:
        return None
    from tidings.lexicons.moby.finding import moby_file
    from tidings.lexicons.wordnet.finding import wordnet_folder

    try:
        if wordnet is None:
            wordnet_folder()
        if moby is None and backend is not Backend.ESA:
            moby_file()
    except WordNetMissing as error:
        return f"{_WITHOUT[backend]}; {error}"
    except MobyMissing as error:
        return f"without the Moby Thesaurus, fewer synonyms are found; {error}"
    return None


def _wordnet(named: Path | None) -> "WordNet | None":
    from tidings.lexicons.wordnet.lookup import load_wordnet

    try:
        return load_wordnet(named)
    except WordNetMissing:
        if named is not None:
            raise
        return None


def _moby(named: Path | None) -> "Moby | None":
    from tidings.lexicons.moby.lookup import load_moby

    try:
        return load_moby(named)
    except MobyMissing:
        if named is not None:
            raise
        return None


def _esa(index: Path | None, lexicon: "WordNet | None") -> "Knowledge":
    if index is None:
        raise IndexUnusable("the backend esa needs an index: `tidings esa build` makes one")
    from tidings.lexicons.esa.folder import open_index
    from tidings.matching.esa.related import EsaRelatedness
    from tidings.matching.matcher.scores import Knowledge
    from tidings.matching.opposites import AllOpposites, BuiltInOpposites

    opposites = BuiltInOpposites() if lexicon is None else AllOpposites(BuiltInOpposites(), lexicon)
    return Knowledge(EsaRelatedness(open_index(index)), opposites)
