"""Policies: nobody may do anything, unless a grant says so; mistakes are named with their place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.making import Clock
from security.making import authority, settings
from tidings.model.access import NO_RIGHTS, Graphs, Rights
from tidings.model.terms import DEFAULT_GRAPH, iri
from tidings.security.errors import BadPolicy
from tidings.security.passport import ANONYMOUS, Passport
from tidings.security.policy.grants import Grant, read_grants
from tidings.security.policy.policy import Policy
from waiting import asynchronous

LAMP = Passport("lamp-1", "lamp-1", "https://b", frozenset({"read"}), frozenset({"lamps"}), 1)
GRAPHS = ("default", "http://e.org/a", "http://e.org/b/*", "http://e.org/b/c", "*", "urn:x:*")
PROBES = ("", "<http://e.org/a>", "<http://e.org/b/>", "<http://e.org/b/c>", "<http://e.org/c>", "<urn:x:1>")
WHO = ("client:lamp-1", "client:lamp-2", "scope:read", "role:lamps", "role:x", "anonymous", "authenticated", "everyone")

some_graphs = st.lists(st.sampled_from(GRAPHS), max_size=2).map(tuple)
grants = st.builds(
    Grant, st.sampled_from(WHO), some_graphs, some_graphs, some_graphs, st.booleans()
).filter(lambda grant: bool(grant.query or grant.update or grant.subscribe or grant.administer))  # fmt: skip
passports = st.builds(
    Passport,
    st.sampled_from(["", "somebody"]),
    st.sampled_from(["lamp-1", "lamp-2", "city:lamp-1"]),
    st.just("https://b"),
    st.frozensets(st.sampled_from(["read", "write"])),
    st.frozensets(st.sampled_from(["lamps", "x"])),
)


def is_written(text: str, name: str) -> bool:
    if text == "default":
        return name == DEFAULT_GRAPH
    return text == "*" or (name[1:-1].startswith(text[:-1]) and name != "" if text[-1] == "*" else name == iri(text))


def concerns(grant: Grant, passport: Passport) -> bool:
    kind, _, name = grant.to.partition(":")
    known = bool(passport.subject)
    match kind:
        case "everyone":
            return True
        case "anonymous":
            return not known
        case "authenticated":
            return known
        case "client":
            return known and passport.client == name
        case "scope":
            return known and name in passport.scopes
        case _:
            return known and name in passport.roles


@given(st.lists(grants, max_size=6), passports)
def test_rights_are_what_the_grants_that_concern_somebody_say_and_nothing_else(
    given_: list[Grant], passport: Passport
) -> None:
    for grant in given_:
        grant.check()
    rights = Policy(tuple(given_)).rights_of(passport)
    mine = [grant for grant in given_ if concerns(grant, passport)]

    def has(name: str, *members: str) -> bool:
        return any(is_written(text, name) for grant in mine for member in members for text in getattr(grant, member))

    for name in PROBES:
        assert rights.read.has(name) == has(name, "query", "subscribe")
        assert rights.write.has(name) == has(name, "update")
        assert rights.subscribe.has(name) == has(name, "subscribe")
    assert rights.administer == any(grant.administer for grant in mine)


def test_without_a_grant_nobody_may_do_anything() -> None:
    assert Policy().rights_of(ANONYMOUS) == Policy().rights_of(LAMP) == NO_RIGHTS


def test_equal_rights_are_one_value_whoever_has_them() -> None:
    policy = Policy(read_grants([{"to": "authenticated", "query": ["http://e.org/a"]}]))
    other = Passport("x", "x", "https://b")
    assert policy.rights_of(LAMP) is policy.rights_of(other)


def test_only_so_much_is_remembered() -> None:
    policy = Policy(read_grants([{"to": "authenticated", "query": ["*"]}]), remembered=10)
    for number in range(100):
        assert policy.rights_of(Passport(f"c{number}", f"c{number}")).read == Graphs.ALL
    assert policy.remembered <= 10


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{}], r"grant: Object missing required field `to` - at `\[0\]`"),
        ([{"to": "everyone"}], r"grant\[0\]\.it grants nothing"),
        ([{"to": "everybody", "query": ["*"]}], r"grant\[0\]\.to: 'everybody' is none of client:NAME"),
        ([{"to": "client:", "query": ["*"]}], r"grant\[0\]\.to: "),
        ([{"to": "user:x", "query": ["*"]}], r"grant\[0\]\.to: "),
        ([{"to": "everyone", "query": "*"}], r"Expected `array`, got `str` - at `\[0\]\.query`"),
        ([{"to": "everyone", "read": ["*"]}], r"unknown field `read` - at `\[0\]`"),
        ([{"to": "everyone", "query": ["*"]}, {"to": "everyone", "update": ["default", "x"]}],
         r"grant\[1\]\.update\[1\]: 'x' is no absolute IRI"),
        ([{"to": "everyone", "query": ["http://*/x"]}], r"grant\[0\]\.query\[0\]: .* that is not at its end"),
        ([{"to": "everyone", "query": ["http://example.org*"]}], r"query\[0\]: .* write http://example\.org/\*"),
        ([{"to": "everyone", "query": ["http://e.org/a b"]}], r"query\[0\]: "),
        ([{"to": "everyone", "query": [""]}], r"query\[0\]: "),
        ([{"to": "everyone", "query": ["*"] * 1_001}], r"query: more than 1,000"),
        ([{"to": "everyone", "administer": "yes"}], r"Expected `bool`, got `str` - at `\[0\]\.administer`"),
        ({"to": "everyone"}, r"Expected `array`, got `object`"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_place(content: Any, message: str) -> None:
    with pytest.raises(BadPolicy, match=message):
        read_grants(content)


@asynchronous
async def test_grants_change_while_running_and_the_ledger_has_the_change(clock: Clock) -> None:
    in_file = read_grants([{"to": "role:lamps", "update": ["http://e.org/a"]}])
    more = Grant("client:lamp-1", query=("http://e.org/b/*",))
    changes: list[Rights] = []
    async with authority(clock, settings(grant=in_file)) as house:
        policies = house.authority.policies
        house.authority.followers.add(lambda: changes.append(policies.rights_of(LAMP)))
        await policies.replace("more", (more,))
        both = house.authority.rights_of(LAMP)
        assert both.write.has("<http://e.org/a>")
        assert both.read.has("<http://e.org/b/1>")
        written = len(house.pages.written)
        await policies.replace("file", in_file)
        assert len(house.pages.written) == written, "nothing has changed, and nothing is written"
        await policies.replace("file", ())
        assert not house.authority.rights_of(LAMP).write
        await policies.replace("more", ())
        assert list(policies.parts) == ["file"]
        assert house.authority.rights_of(LAMP) == NO_RIGHTS
        assert [bool(rights.write) for rights in changes] == [True, False, False]
        with pytest.raises(BadPolicy):
            await policies.replace("more", (Grant("nobody"),))
        notes = house.pages.written
    async with authority(clock, settings(grant=in_file)) as second:
        second.pages.replay(notes[:written])
        assert second.authority.rights_of(LAMP) == both
