"""One update or query of a profile: its text, the variables that can be bound, and its address."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as Choice
from typing import TypeAlias

from tidings.client.jsap.addresses import Http, Level, read_level
from tidings.client.jsap.bindings import Bindable, ForcedBinding, Namespaces, expanded, free_term, read_binding
from tidings.client.jsap.documents import hyphenated
from tidings.client.jsap.mistakes import ROOT, Mistakes, below
from tidings.client.texts import Template, prologue
from tidings.model.errors import SparqlSyntaxError
from tidings.model.likeness import nearest
from tidings.model.terms import Term

Kind: TypeAlias = Choice["update", "query"]

_GRAPHS: dict[Kind, tuple[str, str]] = {
    "query": ("default-graph-uri", "named-graph-uri"),
    "update": ("using-graph-uri", "using-named-graph-uri"),
}
_GRAPH_MEMBERS = tuple(name for names in _GRAPHS.values() for name in names)
_MEMBERS = ("sparql", "forcedBindings", "graphs", "sparql11protocol", "sparql11seprotocol", "host")
_SAMPLES = {"literal": "0000", "uri": "<urn:tidings:sample>", "bnode": "_:tidings_"}
"""A token for each type, to test whether a term of that type can stand in the place of a variable."""
_FOUND_SAMPLE = re.compile(r"found '(?:0000|<urn:tidings:sample>|_:tidings_\w*)'")


@dataclass(frozen=True, slots=True)
class Graphs:
    """The dataset of a query, or of the WHERE of an update; `parameters` are those of the SPARQL Protocol."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, kind: Kind, members: Mapping[str, tuple[str, ...]]) -> "Graphs":
        default, named = (members.get(name, ()) for name in _GRAPHS[kind])
        return cls(default, named, tuple((name, iri) for name in _GRAPHS[kind] for iri in members.get(name, ())))


@dataclass(frozen=True, slots=True)
class Primitive:
    """An update or a query. `text` begins with the prefixes that it needs; `ws` is the address for subscriptions."""

    name: str
    kind: Kind
    text: str
    bindings: Mapping[str, ForcedBinding]
    dataset: Graphs
    http: Http
    ws: str
    reconnect: bool
    namespaces: Namespaces
    _template: Template = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_template", Template(self.text))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that can be bound, declared or not, in the order of the text."""
        return self._template.variables

    def bind(self, values: Mapping[str, Bindable | None] | None = None, /, **more: Bindable | None) -> str:
        """The text with values bound as terms; None counts as no value.

        A declared variable without a value gets its default. Without a default, it stays a variable in a query, which
        then matches all terms; in an update it is a mistake, because the update would change everything. Raises
        BadProfile.
        """
        mistakes = Mistakes()
        given = {name: value for name, value in {**(values or {}), **more}.items() if value is not None}
        terms = {name: binding.default for name, binding in self.bindings.items() if binding.default is not None}
        for name, value in given.items():
            term = self._term(name, value, mistakes)
            if term is not None:
                terms[name] = term
        if self.kind == "update":
            for name in self.bindings.keys() - terms.keys() - given.keys():
                mistakes.add(self._path(name), "missing value")
        mistakes.found.sort(key=lambda mistake: mistake.path)
        mistakes.check()
        text = self._template.filled(terms)
        if any(name not in self.bindings or term[0] == "_" for name, term in terms.items()):
            self._check(text, mistakes)  # declared variables were checked when the profile was loaded
        return text

    def _term(self, name: str, value: Bindable, mistakes: Mistakes) -> Term | None:
        path = self._path(name)
        if name not in self.variables:
            mistakes.add(path, _no_variable(name, self._template))
            return None
        binding = self.bindings.get(name)
        try:
            term = free_term(value) if binding is None else binding.term(value, self.namespaces)
        except ValueError as error:
            mistakes.add(path, str(error))
            return None
        if term[0] == "_" and term[2:] in self._template.labels:
            mistakes.add(path, f"the text has a blank node {term} of its own; another label is needed")
        return term

    def _check(self, text: str, mistakes: Mistakes) -> None:
        try:
            Template(text).read(self.kind, {})
        except SparqlSyntaxError as error:
            mistakes.add(self._path(), f"cannot be bound like this: {error}")
            mistakes.check()

    def _path(self, name: str | None = None) -> str:
        path = below(f"{ROOT}.{'updates' if self.kind == 'update' else 'queries'}", self.name)
        return path if name is None else below(f"{path}.forcedBindings", name)


# -- reading ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """A primitive as it was read, before it is merged with the settings of the whole profile."""

    kind: Kind
    prologue: str
    template: Template
    bindings: dict[str, ForcedBinding]
    graphs: Mapping[str, tuple[str, ...]]
    level: Level
    namespaces: Namespaces


def read_primitive(kind: Kind, value: object, path: str, namespaces: Namespaces, mistakes: Mistakes) -> Draft:
    if value is None:
        mistakes.add(path, 'must be an object such as {"sparql": "…"}, not null')
    members = mistakes.members(value, path, _MEMBERS)
    if isinstance(value, dict) and members.get("sparql") is None:
        mistakes.add(path, f"must have a member sparql, the text of the {kind}")
    text = mistakes.text(members.get("sparql"), below(path, "sparql"))
    template = Template(text or "")
    front = prologue(template.text, namespaces)
    bindings, sound = _read_bindings(members.get("forcedBindings"), path, template, namespaces, mistakes)
    if text is not None:
        _check_text(kind, template, front, bindings, path, mistakes, sound=sound)
    graphs = read_graphs(members.get("graphs"), below(path, "graphs"), namespaces, mistakes)
    return Draft(kind, front, template, bindings, graphs, read_level(members, path, mistakes), namespaces)


def read_graphs(value: object, path: str, namespaces: Namespaces, mistakes: Mistakes) -> dict[str, tuple[str, ...]]:
    """The IRIs of graphs by the parameter names of the SPARQL Protocol. A member is an IRI or a list of IRIs."""
    spellings = (*_GRAPH_MEMBERS, *(name.replace("-", "_") for name in _GRAPH_MEMBERS))
    members = mistakes.members(value, path, spellings)
    found = {}
    if len(hyphenated(members)) < len(members):
        mistakes.add(path, "has a member in both spellings, with - and with _")
    for name, given in members.items():
        if name not in spellings or given is None:
            continue
        iris = []
        for at, text in mistakes.texts(given, below(path, name)):
            try:
                iris.append(expanded(text, namespaces))
            except ValueError as error:
                mistakes.add(at, str(error))
        found[name.replace("_", "-")] = tuple(iris)
    return found


def _read_bindings(
    value: object, path: str, template: Template, namespaces: Namespaces, mistakes: Mistakes
) -> tuple[dict[str, ForcedBinding], bool]:
    """The forced bindings, and whether all of them are valid."""
    found = {}
    path = below(path, "forcedBindings")
    members = mistakes.mapping(value, path)
    for name, declared in members.items():
        binding = read_binding(declared, below(path, name), namespaces, mistakes)
        if name not in template.variables:
            mistakes.add(below(path, name), _no_variable(name, template))
        elif binding is not None:
            found[name] = binding
    return found, len(found) == len(members)


def _no_variable(name: str, template: Template) -> str:
    if name in template.names:
        return f"?{name} cannot be bound: the text assigns it, or asks whether it is bound"
    text = f"the text has no variable ?{name}"
    if meant := nearest(name, template.variables):
        return f"{text}; did you mean ?{meant}?"
    return f"{text}; it has {', '.join(f'?{known}' for known in template.variables) or 'none'}"


def _check_text(
    kind: Kind,
    template: Template,
    front: str,
    bindings: Mapping[str, ForcedBinding],
    path: str,
    mistakes: Mistakes,
    *,
    sound: bool,
) -> None:
    """Check that a text is valid SPARQL with its forced variables bound, and a query also without."""
    samples = {name: _sample(name, binding) for name, binding in bindings.items()}
    free = _fault(kind, template, front, {})
    bound = _fault(kind, template, front, samples) if samples else free
    if bound is None and (free is None or kind == "update"):
        return
    if free is not None:
        # If the binding of a variable in DATA is itself a mistake, that is reported already, and the text may be valid.
        if sound or kind == "query" or bound is None or "cannot stand in DATA" not in bound.message:
            worse = free if bound is None or kind == "query" else bound
            mistakes.add(below(path, "sparql"), _told(worse, front))
        return
    faults = {name: _fault(kind, template, front, {name: sample}) for name, sample in samples.items()}
    at = below(path, "forcedBindings")
    for name, fault in faults.items():
        if fault is not None:
            what = f"a {bindings[name].type} cannot stand where ?{name} stands"
            mistakes.add(below(at, name), f"{what}: {_told(fault, front)}")
    if bound is not None and not any(faults.values()):
        mistakes.add(at, f"cannot be bound together: {_told(bound, front)}")


def _sample(name: str, binding: ForcedBinding) -> str:
    sample = _SAMPLES[binding.type]
    return sample + name if binding.type == "bnode" else sample


def _fault(kind: Kind, template: Template, front: str, samples: Mapping[str, str]) -> SparqlSyntaxError | None:
    try:
        template.read(kind, samples, front)
    except SparqlSyntaxError as error:
        return error
    return None


def _told(fault: SparqlSyntaxError, front: str) -> str:
    """The message of a fault, with its position in the text of the profile, without the added prefixes."""
    message = _FOUND_SAMPLE.sub("found the value", fault.message)
    return f"line {fault.line - front.count(chr(10))}, column {fault.column}: {message}"
