"""The npm package @arces-wot/sepa-js in its secure mode, unmodified, against a broker with TLS that asks who it is.

It checks certificates, against the authorities that Node trusts.
"""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from clients import sepa_js
from clients.secured import SecuredBroker
from clients.sepa_js import Refused, SepaJs
from clients.test_sepa_js import LAMP, follow, insert, notified, values
from plain import calls
from security.making import basic
from waiting import PATIENCE

pytestmark = pytest.mark.server


@pytest.fixture
def sepa(secure: SecuredBroker, node: str, modules: Path) -> Iterator[SepaJs]:
    with sepa_js.running(node, modules, secure.profile(), secure.ca) as client:
        yield client


def test_sepa_js_registers_logs_in_updates_asks_and_is_notified(sepa: SepaJs) -> None:
    subject = f"<urn:{uuid4()}>"
    query = LAMP.replace("<urn:lamp>", subject)
    name = f"js-{uuid4()}"
    assert sepa.call("register", name)["id"] == name
    insert(sepa, f"{subject} <urn:status> 'off'")
    assert values(sepa.call("query", query)) == ["off"]
    assert values(follow(sepa, query, "lamp")["addedResults"]) == ["off"]
    insert(sepa, f"{subject} <urn:status> 'on'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]
    sepa.call("unsubscribe", "lamp")
    sepa.hear("lamp", "unsubscribed")


def test_it_has_to_log_in_before_it_subscribes(sepa: SepaJs) -> None:
    sepa.call("register", f"js-{uuid4()}")
    with pytest.raises(Refused, match="token_type"):  # it looks into the token that it does not have
        sepa.call("subscribe", LAMP, "early")
    sepa.call("login")
    follow(sepa, LAMP, "late")


def test_an_identity_may_do_what_it_may_and_is_taken_only_once(sepa: SepaJs) -> None:
    name = f"reader-{uuid4()}"
    sepa.call("register", name)
    sepa.call("login")
    follow(sepa, LAMP, "lamp")
    with pytest.raises(Refused) as refused:
        insert(sepa, "<urn:lamp> <urn:status> 'stolen'")
    assert (refused.value.status, refused.value.body["error"]) == (403, "graph_not_writable")
    with pytest.raises(Refused) as refused:
        sepa.call("register", name)
    assert (refused.value.status, refused.value.body["error"]) == (401, "not_authorized_identity")


def test_a_token_that_counts_no_more_is_replaced_over_http_and_on_the_socket(
    sepa: SepaJs, secure: SecuredBroker
) -> None:
    subject = f"<urn:{uuid4()}>"
    query = LAMP.replace("<urn:lamp>", subject)
    known = sepa.call("register", f"js-{uuid4()}")
    sepa.call("login")
    follow(sepa, query, "before")

    def revoke() -> None:
        answer = calls.post(
            f"{secure.plain.http}/oauth/revoke",
            data={"token": sepa.call("token")},
            headers={"authorization": basic(known["id"], known["secret"])},
            timeout=PATIENCE,
        )
        assert answer.status_code == 200

    first = sepa.call("token")
    revoke()
    insert(sepa, f"{subject} <urn:status> 'on'")
    assert sepa.call("token") != first
    assert values(sepa.call("query", query)) == ["on"]
    revoke()
    assert values(follow(sepa, query, "after")["addedResults"]) == ["on"]


def test_a_wrong_secret_is_refused(sepa: SepaJs) -> None:
    known = sepa.call("register", f"js-{uuid4()}")
    sepa.call("become", known["id"], "wrong")
    with pytest.raises(Refused) as refused:
        sepa.call("login")
    assert (refused.value.status, refused.value.body["error"]) == (400, "unauthorized_client")


def test_a_certificate_that_node_does_not_trust_is_refused(secure: SecuredBroker, node: str, modules: Path) -> None:
    with sepa_js.running(node, modules, secure.profile()) as client, pytest.raises(Refused, match="certificate"):
        client.call("register", f"js-{uuid4()}")
