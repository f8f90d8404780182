"""The requests of agents as values. Each is a tool, and its class has the description and the arguments of the tool.

The schema of the arguments is made from the class, and the server checks arguments against it.
"""

from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tidings.model.errors import BadRequest, NotFound

Limit: TypeAlias = Annotated[int, Meta(ge=1, le=1_000, description="rows to tell; fewer if they are long")]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100_000)]
Name: TypeAlias = Annotated[
    str,
    Meta(min_length=1, max_length=100, description="what you call it"),
]


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask the graph with SPARQL 1.1: SELECT, ASK, CONSTRUCT or DESCRIBE. `next` of an answer is the offset of more."""

    changes: ClassVar[bool] = False
    sparql: Text
    limit: Limit = 50
    offset: Annotated[int, Meta(ge=0, description="rows to leave out; sort the answer, so that pages fit together")] = 0


class Update(Struct, frozen=True, forbid_unknown_fields=True):
    """Change the graph with SPARQL 1.1 Update. At first this is a dry run, which tells exactly what would be added and
    removed; look at it, then call again with dry_run false. With delay or at, it is done later."""

    changes: ClassVar[bool] = True
    sparql: Text
    dry_run: Annotated[bool, Meta(description="only tell what would change")] = True
    delay: Annotated[str | float | None, Meta(description="do it after this time: seconds, or such as PT5M")] = None
    at: Annotated[str | None, Meta(description="do it at this instant, such as 2030-01-01T08:00:00Z")] = None


class Cancel(Struct, frozen=True, forbid_unknown_fields=True):
    """Call off an update that was delayed."""

    changes: ClassVar[bool] = True
    delayed: Annotated[str, Meta(description="what update answered as delayed")]


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """See what there is to ask about: classes and predicates, how often each occurs, an example, prefixes."""

    changes: ClassVar[bool] = False
    limit: Limit = 40


class Watch(Struct, frozen=True, forbid_unknown_fields=True):
    """Leave a subscription under a name, for good: from here on, changes tells what came and went in the answer. To
    watch the same again, say after a restart, forgets nothing."""

    changes: ClassVar[bool] = False
    name: Name
    sparql: Text
    everything: Annotated[bool, Meta(description="have changes tell what is there already, too")] = False
    limit: Limit = 50


class Changes(Struct, frozen=True, forbid_unknown_fields=True):
    """What changed in a watched answer since you last looked: exact rows, in portions. Pass the cursor of the last
    answer as after, which says that you have it; without, you are told the same again. more says that rows are left."""

    changes: ClassVar[bool] = False
    name: Name
    after: Annotated[str | None, Meta(description="the cursor that you were told last")] = None
    limit: Limit = 50


class Unwatch(Struct, frozen=True, forbid_unknown_fields=True):
    """End a watch."""

    changes: ClassVar[bool] = False
    name: Name


class Watches(Struct, frozen=True, forbid_unknown_fields=True):
    """See what you watch."""

    changes: ClassVar[bool] = False


class Explain(Struct, frozen=True, forbid_unknown_fields=True):
    """See how the broker would keep the answer of a query up to date: its plan, and which changes concern it."""

    changes: ClassVar[bool] = False
    sparql: Text


Request: TypeAlias = Query | Update | Cancel | Vocabulary | Watch | Changes | Unwatch | Watches | Explain
KINDS: tuple[type[Request], ...] = (Query, Update, Cancel, Vocabulary, Watch, Changes, Unwatch, Watches, Explain)
_BY_NAME: dict[str, type[Request]] = {kind.__name__.lower(): kind for kind in KINDS}


def tools(*, read_only: bool) -> list[type[Request]]:
    """Those that there are; the names are the names of the classes, in lower case."""
    return [kind for kind in KINDS if not (read_only and kind.changes)]


def read_request(name: str, arguments: dict[str, Any], *, read_only: bool) -> Request:
    """Raises NotFound, BadRequest."""
    kind = _BY_NAME.get(name)
    if kind is None or (read_only and kind.changes):
        raise NotFound(f"there is no tool {name[:40]!r}")
    try:
        return msgspec.convert(arguments, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the arguments of {name} are wrong: {error}") from error


def schema_of(kind: type[Request]) -> dict[str, Any]:
    """The JSON schema of the arguments of a tool."""
    (_,), components = msgspec.json.schema_components([kind])
    schema: dict[str, Any] = dict(components[kind.__name__])
    properties = {name: each for name, each in schema["properties"].items() if name != "type"}
    required = [name for name in schema.get("required", ()) if name != "type"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
