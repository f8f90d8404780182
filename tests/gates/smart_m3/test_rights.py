"""Where everybody is asked who they are: credentials of a JOIN, or of each message."""

from gates.smart_m3.kp import ANY, insert, parameter, patterns, space, triple
from tidings.gates.asking import Asker, OpenGuard, Shown
from tidings.model.access import Graphs, Rights
from tidings.security.errors import InvalidGrant
from waiting import asynchronous

A, B, P = "http://x.example/a", "http://x.example/b", "http://x.example/p"
SHOWN = parameter("credentials", "good")


class Doorman(OpenGuard):
    """Knows one token, of one who may write."""

    asks = True

    def recall(self, authorization: Shown) -> Asker:
        if authorization != "good":
            raise InvalidGrant("nobody knows this token")
        return Asker("kp", Rights(read=Graphs.ALL, write=Graphs.ALL))


@asynchronous
async def test_what_was_shown_at_join_counts_for_other_connections_of_the_same_node() -> None:
    async with space(guard=Doorman()) as shared:
        first, later, elsewhere = shared.kp(), shared.kp(), shared.kp(where="192.0.2.9")
        assert (await first.ask("JOIN", parameter("credentials", "XYZZY"))).status == "m3:SIB.Error.AccessDenied"
        assert (await later.ask("INSERT", insert(triple(A, P, B)))).status == "m3:SIB.Error.AccessDenied"
        assert (await first.ask("JOIN", SHOWN)).status == "m3:Success"
        assert (await later.ask("INSERT", insert(triple(A, P, B)))).status == "m3:Success"
        assert (await elsewhere.ask("INSERT", insert(triple(A, P, B)))).status == "m3:SIB.Error.AccessDenied"
        await later.ask("LEAVE")
        assert (await shared.kp().ask("QUERY", patterns(triple(ANY, ANY, ANY)))).status == "m3:SIB.Error.AccessDenied"


@asynchronous
async def test_a_node_with_a_short_name_shows_its_credentials_over_each_connection() -> None:
    async with space(guard=Doorman()) as shared:
        first, later = shared.kp(), shared.kp()
        await first.ask("JOIN", SHOWN, node="lamp")
        assert (await first.ask("INSERT", insert(triple(A, P, B)), node="lamp")).status == "m3:Success"
        assert (await later.ask("INSERT", insert(triple(A, P, B)), node="lamp")).status == "m3:SIB.Error.AccessDenied"
        assert (await later.ask("INSERT", insert(triple(A, P, B)), SHOWN, node="lamp")).status == "m3:Success"


@asynchronous
async def test_who_may_subscribe_to_nothing_does_not() -> None:
    async with space(guard=Doorman()) as shared:
        refused = await shared.kp().ask("SUBSCRIBE", patterns(triple(A, P, ANY)), SHOWN)
        assert (refused.status, refused.text("error")) == ("m3:SIB.Error.AccessDenied", "may_not_subscribe")
