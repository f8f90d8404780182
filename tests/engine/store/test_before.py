"""The store before its last change looks as it did then."""

from tidings.engine.store.before import Before
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

CHAT: Quad = ("<urn:s>", "<urn:p>", '"chat"@FR-be', "")


def test_a_literal_whose_last_quad_was_removed_is_spelled_as_it_was() -> None:
    store = Store([CHAT])
    before = Before(store)
    for delta, now, then in (
        (ZSet.change(removed=[CHAT]), None, CHAT[2]),
        (ZSet.change(added=[("<urn:s>", "<urn:p>", '"chat"@fr-BE', "")]), '"chat"@fr-BE', '"chat"@fr-BE'),
        (ZSet.change(added=[("<urn:s>", "<urn:q>", '"other"', "")]), '"chat"@fr-BE', '"chat"@fr-BE'),
    ):
        store.apply(delta)
        before.begin(delta)
        assert store.spelling('"chat"@fr-be') == now
        assert before.spelling('"chat"@fr-be') == then
