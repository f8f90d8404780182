"""Documents as notifications: triples, and the constraint that they have to meet.

The constraint is an ASK query over the notification alone. It is checked before anything is stored.
"""

import time
from collections.abc import Sequence

import orjson

from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.gates.ldn.contexts import Contexts
from tidings.gates.ldn.errors import ConstraintNotMet, NotANotification
from tidings.model.errors import BadRequest, RdfSyntaxError, RequestTooComplex
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.media import by_media_type
from tidings.model.formats.nesting import check_xml
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.results import Boolean
from tidings.model.terms import DEFAULT_GRAPH, Triple
from tidings.sparql.evaluate.context import Limits

FORMATS = (RdfFormat.JSON_LD, RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.RDF_XML)
"""What is taken and given; JSON-LD first, which is given to those who do not say what they want."""
MOST_TRIPLES = 100_000
_DEEPEST = 200


class Reading:
    """How this inbox reads documents."""

    def __init__(self, contexts: Contexts, constraint: str | None = None, *, seconds: float = 1.0) -> None:
        self._contexts = contexts
        self.constraint = constraint
        self._limits = Limits(seconds=seconds, rows=MOST_TRIPLES, clock=time.monotonic)
        if constraint is not None:
            check_constraint(constraint)

    @property
    def fetches(self) -> bool:
        """Whether reading may take as long as others take to answer."""
        return self._contexts.fetches

    def read(self, body: bytes, content_type: str, address: str) -> Sequence[Triple]:
        """The triples of a notification that is going to be at an address. Raises BadRequest, UnsupportedFormat."""
        format_ = by_media_type(FORMATS, content_type)
        if format_ is RdfFormat.JSON_LD:
            body = with_contexts(body, self._contexts)
        elif format_ is RdfFormat.RDF_XML:
            check_xml(body)
        triples: list[Triple] = []
        for s, p, o, graph in parse_rdf(body, format_, address, DEFAULT_GRAPH, KEEP_LABELS):
            if graph != DEFAULT_GRAPH:
                raise NotANotification(f"the document names the graph {graph}; a notification is one graph")
            triples.append((s, p, o))
            if len(triples) > MOST_TRIPLES:
                said = f"a notification has at most {MOST_TRIPLES:,} triples"
                raise RequestTooComplex(said, measured=len(triples), limit=MOST_TRIPLES)
        if not triples:
            raise NotANotification("the document says nothing: there is no triple in it")
        return triples

    def check(self, triples: Sequence[Triple], now: int) -> None:
        """Raises ConstraintNotMet."""
        if self.constraint is None:
            return
        engine = Engine(Core())
        for s, p, o in triples:
            engine.store.add(s, p, o, DEFAULT_GRAPH)
        answer = engine.query(self.constraint, now=now, limits=self._limits)
        if not (isinstance(answer, Boolean) and answer.value):
            raise ConstraintNotMet("the notification does not meet the constraint of this inbox")


def with_contexts(body: bytes, contexts: Contexts) -> bytes:
    """JSON-LD with its contexts in place. Raises RdfSyntaxError, ContextNotAllowed."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RdfSyntaxError(f"not JSON: {error.msg}", line=error.lineno, column=error.colno) from error
    _check_depth(document)
    return orjson.dumps(contexts.inlined(document))


def check_constraint(text: str) -> None:
    """Raises SparqlSyntaxError, BadRequest."""
    if not isinstance(Engine(Core()).query(text, now=0), Boolean):
        raise BadRequest("a constraint is an ASK query")


def _check_depth(document: object) -> None:
    """Raises RdfSyntaxError: what is nested deeper than anybody writes would be followed step by step."""
    level: list[object] = [document]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise RdfSyntaxError(f"nested more than {_DEEPEST} deep", line=1, column=1)
