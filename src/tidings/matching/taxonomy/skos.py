"""Reads a taxonomy from a SKOS vocabulary (skos:prefLabel, altLabel, broader, narrower), or from equivalent JSON:

    {"medtop:01000000": {"en": "arts, culture and media", "alt": ["culture"], "b": ["medtop:00000000"]}, …}

The object of concepts may also be the member `concepts` of another object, as in extracts of EuroVoc.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tidings.matching.taxonomy.errors import TaxonomyUnreadable
from tidings.matching.taxonomy.topics import Taxonomy, Topic, taxonomy
from tidings.model.terms import Quad, Term, is_literal, lexical_form, split_literal

SKOS = "http://www.w3.org/2004/02/skos/core#"
_PREFERRED, _ALTERNATIVE = f"<{SKOS}prefLabel>", f"<{SKOS}altLabel>"
_BROADER, _NARROWER = f"<{SKOS}broader>", f"<{SKOS}narrower>"
_MOST = 200_000


def of_quads(name: str, quads: Iterable[Quad], language: str = "en") -> Taxonomy:
    """A taxonomy from quads. Its labels are those in the language, or without a language. Raises TaxonomyUnreadable."""
    labels: dict[Term, str] = {}
    others: defaultdict[Term, list[str]] = defaultdict(list)
    broader: dict[Term, Term] = {}
    for s, p, o, _ in quads:
        if p in (_PREFERRED, _ALTERNATIVE) and _is_of(o, language):
            text = lexical_form(o)
            if p == _PREFERRED and s not in labels:
                labels[s] = text
            else:
                others[s].append(text)
        elif p == _BROADER:
            broader.setdefault(s, o)
        elif p == _NARROWER:
            broader.setdefault(o, s)
    return _checked(
        taxonomy(name, (Topic(s, text, tuple(others[s]), broader.get(s)) for s, text in labels.items())), language
    )


def of_document(name: str, document: Any, language: str = "en") -> Taxonomy:
    """A taxonomy from JSON. Raises TaxonomyUnreadable."""
    concepts = document.get("concepts", document) if isinstance(document, dict) else None
    if not isinstance(concepts, dict):
        raise TaxonomyUnreadable(f"{name} is no object of concepts, each with a label `{language}`")
    return _checked(taxonomy(name, _topics(concepts, language)), language)


def _topics(concepts: dict[str, Any], language: str) -> Iterator[Topic]:
    """The topics of a JSON document, which names a broader concept by its key, or by its key without the prefix."""
    keys = {key.rpartition(":")[2]: key for key in concepts} | {key: key for key in concepts}
    for key, about in concepts.items():
        if not isinstance(about, dict) or not isinstance(about.get(language), str) or about.get("ret"):
            continue  # without a label in this language, or retired
        alternatives, above = about.get("alt") or [], about.get("b") or []
        yield Topic(key, about[language], tuple(map(str, alternatives)), keys.get(str(above[0])) if above else None)


def _checked(found: Taxonomy, language: str) -> Taxonomy:
    if not len(found):
        raise TaxonomyUnreadable(f"{found.name} has no topic with a label in the language {language!r}")
    if len(found) > _MOST:
        raise TaxonomyUnreadable(f"{found.name} has {len(found):,} topics, and {_MOST:,} are the most")
    return found


def _is_of(term: Term, language: str) -> bool:
    if not is_literal(term):
        return False
    _, _, tag = split_literal(term)
    return not tag or tag.lower().split("-")[0] == language.lower()
