"""Documents made up from notifications, from any JSON and from any bytes: each is a notification, or refused."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endurance import often
from tidings.gates.ldn.contexts import Contexts
from tidings.gates.ldn.discovery import Resource, inbox_of
from tidings.gates.ldn.errors import NoInbox
from tidings.gates.ldn.notifications import FORMATS, Reading
from tidings.model.errors import TidingsError

READING = Reading(Contexts())
KEYS = st.sampled_from(
    ["@context", "@id", "@type", "@graph", "@value", "@list", "id", "type", "object", "name", "x", ""]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6)
    | st.sampled_from(["https://www.w3.org/ns/activitystreams", "http://e/", "_:b", "Announce"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def read(body: bytes, media_type: str) -> int:
    """How many triples there are, or the status of the refusal, with a minus."""
    try:
        return len(READING.read(body, media_type, "http://e/inbox/1"))
    except TidingsError as error:
        return -error.status


@settings(max_examples=often(150), deadline=None)
@given(VALUES)
def test_any_json_is_a_notification_or_refused(document: Any) -> None:
    outcome = read(json.dumps(document).encode(), "application/ld+json")
    assert outcome > 0 or outcome in {-400, -413}


@settings(max_examples=often(60), deadline=None)
@given(st.binary(max_size=60), st.sampled_from([format_.media.types[0] for format_ in FORMATS]), st.text(max_size=30))
def test_any_bytes_are_a_notification_or_refused(body: bytes, media_type: str, link: str) -> None:
    outcome = read(body, media_type)
    assert outcome > 0 or outcome == -400
    with pytest.raises(NoInbox):
        inbox_of(Resource("http://e/", [link], media_type, body))
