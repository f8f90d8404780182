"""A notification of a subscription as an activity of ActivityStreams 2.0, in JSON-LD.

    {"type": "Update", "object": <the subscription>, "added": [{"var:lamp": {"@id": …}}, …], "removed": […]}

The activity has everything that its receiver should know: all rows, with their terms, as RDF. A row is a node with a
property for each variable, `urn:tidings:variable:` and its name.
"""

from collections.abc import Mapping
from typing import Any

from tidings.gates.ldn.contexts import ACTIVITY_STREAMS

Json = dict[str, Any]
OURS = "urn:tidings:"
VARIABLE = f"{OURS}variable:"
CONTEXT: list[Any] = [
    ACTIVITY_STREAMS,
    {
        "var": {"@id": VARIABLE, "@prefix": True},
        "added": {"@id": f"{OURS}added"},
        "removed": {"@id": f"{OURS}removed"},
        "sequence": {"@id": f"{OURS}sequence"},
        "commit": {"@id": f"{OURS}commit"},
        "alias": {"@id": f"{OURS}alias"},
    },
]
"""ActivityStreams first, and terms of ours for what it has no words for."""


def activity(notification: Mapping[str, Any], name: str, actor: str, published: str) -> Json:
    """`notification` is as in the Subscribe language; `name` is the IRI of the activity."""
    added, removed = (_rows(notification[member]) for member in ("addedResults", "removedResults"))
    more = {key: notification[key] for key in ("sequence", "commit") if key in notification}
    if notification.get("alias") is not None:
        more["alias"] = str(notification["alias"])
    return {
        "@context": CONTEXT,
        "id": name,
        "type": "Update",
        "actor": actor,
        "object": notification["spuid"],
        "published": published,
        "summary": f"{len(added)} rows came, {len(removed)} went",
        **more,
        "added": added,
        "removed": removed,
    }


def _rows(results: Mapping[str, Any]) -> list[Json]:
    return [{f"var:{name}": _term(term) for name, term in row.items()} for row in results["results"]["bindings"]]


def _term(term: Mapping[str, str]) -> Json:
    match term["type"]:
        case "uri":
            return {"@id": term["value"]}
        case "bnode":
            return {"@id": f"_:{term['value']}"}
        case _:
            said = {"@value": term["value"]}
            if "xml:lang" in term:
                return said | {"@language": term["xml:lang"]}
            return said | ({"@type": term["datatype"]} if "datatype" in term else {})
