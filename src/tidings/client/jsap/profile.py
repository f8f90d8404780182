"""The JSON SPARQL Application Profile: the updates and queries of an application by name, with their addresses.

    jsap = load("chat.jsap")
    text = jsap.update("SEND").bind(sender="chat:alice", text="} ; DROP ALL #")

A value is bound as a term and never pasted as text, so it cannot change the structure of a request. Loading a profile
finds all its mistakes at once, each with its JSON path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tidings.client.jsap.addresses import Level, check_gate, http_address, read_level, ws_address
from tidings.client.jsap.bindings import Namespaces
from tidings.client.jsap.documents import overlaid, read_document
from tidings.client.jsap.mistakes import ROOT, BadProfile, Mistake, Mistakes, below, shown
from tidings.client.jsap.oauth import OAuth, at_home, read_oauth
from tidings.client.jsap.primitives import Draft, Graphs, Kind, Primitive, read_graphs, read_primitive
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.likeness import nearest
from tidings.model.terms import RDF, XSD
from tidings.sparql.parser.tokens import tokenize

ALWAYS_KNOWN = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
SECTIONS: dict[Kind, str] = {"update": "updates", "query": "queries"}
_MEMBERS = (
    "host", "include", "sparql11protocol", "sparql11seprotocol", "graphs", "namespaces", "oauth", "updates", "queries",
    "extended",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Jsap:
    """An application profile. `security` and `extended` are passed on unchanged."""

    updates: Mapping[str, Primitive]
    queries: Mapping[str, Primitive]
    namespaces: Namespaces
    host: str
    oauth: OAuth = field(default_factory=OAuth)
    security: Mapping[str, Any] = field(default_factory=dict)
    extended: Any = None

    def update(self, name: str) -> Primitive:
        """The update with this name. Raises BadProfile, with the name that was probably meant."""
        return self._find(name, "update", self.updates, self.queries)

    def query(self, name: str) -> Primitive:
        """The query with this name. Raises BadProfile, with the name that was probably meant."""
        return self._find(name, "query", self.queries, self.updates)

    @staticmethod
    def _find(name: str, kind: Kind, here: Mapping[str, Primitive], there: Mapping[str, Primitive]) -> Primitive:
        if name in here:
            return here[name]
        text = f"there is no {kind} {shown(name)}"
        if name in there:
            text += f": this is the name of {'an update' if kind == 'query' else 'a query'}"
        elif meant := nearest(name, here):
            text += f"; did you mean {shown(meant)}?"
        else:
            text += f"; there is {', '.join(map(shown, here)) or 'none at all'}"
        raise BadProfile([Mistake(below(f"{ROOT}.{SECTIONS[kind]}", name), text)])


def load(source: Path | str | Mapping[str, Any]) -> Jsap:
    """Load a profile from a file, a JSON text, or a parsed JSON object. Raises BadProfile."""
    document = read_document(source)
    mistakes = Mistakes()
    members = mistakes.members(document.members, ROOT, _MEMBERS)
    namespaces = _namespaces(members.get("namespaces"), mistakes)
    level = read_level(members, ROOT, mistakes)
    check_gate(Level(None, {}, {}), level, ROOT, mistakes)
    graphs = read_graphs(members.get("graphs"), f"{ROOT}.graphs", namespaces, mistakes)
    oauth = read_oauth(members.get("oauth"), f"{ROOT}.oauth", mistakes)
    drafts = {kind: _drafts(kind, members, namespaces, level, mistakes) for kind in SECTIONS}
    mistakes.check(document.files)
    made = {kind: _made(some, level, graphs) for kind, some in drafts.items()}
    return Jsap(
        updates=made["update"],
        queries=made["query"],
        namespaces=namespaces,
        host=level.host or "localhost",
        oauth=at_home(oauth, level),
        security=MappingProxyType(level.ws.get("security") or {}),
        extended=members.get("extended"),
    )


def _namespaces(value: object, mistakes: Mistakes) -> Namespaces:
    found = dict(ALWAYS_KNOWN)
    path = f"{ROOT}.namespaces"
    for prefix, namespace in mistakes.mapping(value, path).items():
        at = below(path, prefix)
        if ":" in prefix or tokenize(f"{prefix}:")[:1] != [f"{prefix}:"] or prefix == "_":
            mistakes.add(at, f"cannot be a prefix: {shown(prefix)}")
        elif not isinstance(namespace, str) or not ABSOLUTE_IRI.fullmatch(namespace):
            mistakes.add(at, f"must be an absolute IRI, not {shown(namespace)}")
        else:
            found[prefix] = namespace
    return MappingProxyType(found)


def _drafts(
    kind: Kind, members: Mapping[str, Any], namespaces: Namespaces, level: Level, mistakes: Mistakes
) -> dict[str, Draft]:
    path = f"{ROOT}.{SECTIONS[kind]}"
    drafts = {}
    for name, value in mistakes.mapping(members.get(SECTIONS[kind]), path).items():
        at = below(path, name)
        drafts[name] = draft = read_primitive(kind, value, at, namespaces, mistakes)
        if draft.level.ws:
            check_gate(draft.level, level, at, mistakes)
    return drafts


def _made(drafts: Mapping[str, Draft], level: Level, graphs: Mapping[str, tuple[str, ...]]) -> Mapping[str, Primitive]:
    made = {
        name: Primitive(
            name=name,
            kind=draft.kind,
            text=draft.prologue + draft.template.text,
            bindings=MappingProxyType(draft.bindings),
            dataset=Graphs.of(draft.kind, overlaid(graphs, draft.graphs)),
            http=http_address(draft.kind, draft.level, level),
            ws=ws_address(draft.level, level),
            reconnect=bool(overlaid(level.ws, draft.level.ws).get("reconnect", True)),
            namespaces=draft.namespaces,
        )
        for name, draft in drafts.items()
    }
    return MappingProxyType(made)
