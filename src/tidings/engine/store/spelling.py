"""Language-tagged literals whose tags differ only in case are one term (RDF 1.1 Concepts, 3.3): keeps its spelling.

The store spells such a literal as its first publisher did, finds it by any spelling, and forgets the spelling with its
last quad. So `"chat"@EN` stays `@EN`, and a query for `"chat"@en` finds it.
"""

from tidings.model.terms import Term, fold


class Spellings:
    """The spelling of every language-tagged literal of a store, and in how many places it is in use."""

    __slots__ = ("_in_use",)

    def __init__(self) -> None:
        self._in_use: dict[Term, tuple[Term, int]] = {}

    def of(self, term: Term) -> Term:
        """The spelling in use; the term itself if there is none."""
        return self.known(term) or term

    def known(self, term: Term) -> Term | None:
        """The spelling in use; None if there is none."""
        found = self._in_use.get(fold(term))
        return None if found is None else found[0]

    def hold(self, term: Term) -> None:
        """One more place uses this spelling. It must be the one in use, or the first."""
        folded = fold(term)
        _, places = self._in_use.get(folded, (term, 0))
        self._in_use[folded] = (term, places + 1)

    def release(self, term: Term) -> None:
        """One place less uses this spelling."""
        folded = fold(term)
        _, places = self._in_use[folded]
        if places == 1:
            del self._in_use[folded]
        else:
            self._in_use[folded] = (term, places - 1)
