"""The PyPI package sepy in its secure mode, unmodified, against a broker with TLS that asks who it is.

sepy checks no certificate. It registers under its client id when it first needs to, and then gets a token.
"""

import json
import logging
import warnings
from typing import Any
from uuid import uuid4

import pytest
from urllib3.exceptions import InsecureRequestWarning

from clients.secured import SecuredBroker
from clients.test_sepy import LAMP, Listener, end, insert, values
from plain import calls
from waiting import PATIENCE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it asks pkg_resources, which is deprecated, for a file of its own
    from sepy.Exceptions import RegistrationFailedException, TokenExpiredException
    from sepy.SAPObject import SAPObject
    from sepy.SEPA import SEPA

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings(f"ignore::{InsecureRequestWarning.__module__}.{InsecureRequestWarning.__name__}"),
]


def sepa(broker: SecuredBroker, identity: str | None = None) -> Any:
    return SEPA(SAPObject(broker.profile(), log=logging.ERROR), client_id=identity or f"sepy-{uuid4()}")


def test_sepy_registers_gets_a_token_updates_asks_and_is_notified(secure: SecuredBroker) -> None:
    client, subject = sepa(secure), f"<urn:{uuid4()}>"
    query = LAMP.replace("<urn:lamp>", subject)
    insert(client, f"{subject} <urn:status> 'off'")
    assert values(client.sparql_query(query)) == ["off"]
    lamp = Listener()
    subscription = client.sparql_subscribe(query, "lamp", handler=lamp)
    assert lamp.hear() == (["off"], [])
    insert(client, f"{subject} <urn:status> 'on'")
    assert lamp.hear() == (["on"], [])
    end(client, subscription)


def test_a_first_call_may_be_a_subscription(secure: SecuredBroker) -> None:
    client, lamp = sepa(secure), Listener()
    subscription = client.sparql_subscribe(f"select ?o where {{ <urn:{uuid4()}> <urn:p> ?o }}", "lamp", handler=lamp)
    assert lamp.hear() == ([], [])
    end(client, subscription)


def test_a_first_call_cannot_be_a_query_because_sepy_confuses_the_two_addresses(secure: SecuredBroker) -> None:
    with pytest.raises(RegistrationFailedException):
        sepa(secure).sparql_query(LAMP)


def test_sepy_may_do_what_its_identity_may(secure: SecuredBroker) -> None:
    client, lamp = sepa(secure, f"reader-{uuid4()}"), Listener()
    subscription = client.sparql_subscribe(LAMP, "lamp", handler=lamp)
    lamp.hear()
    with pytest.raises(ValueError, match="graph_not_writable") as refused:
        insert(client, "<urn:lamp> <urn:status> 'stolen'")
    assert json.loads(str(refused.value))["status_code"] == 403
    end(client, subscription)


def test_an_identity_that_is_taken_is_refused(secure: SecuredBroker, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"sepy-{uuid4()}"
    insert(sepa(secure, name), "<urn:a> <urn:p> 1")
    with pytest.raises(RegistrationFailedException):
        insert(sepa(secure, name), "<urn:a> <urn:p> 2")
    assert "not_authorized_identity" in capsys.readouterr().out


def test_sepy_is_told_that_its_token_counts_no_more_and_gets_another_with_the_next_call(secure: SecuredBroker) -> None:
    client = sepa(secure)
    insert(client, "<urn:a> <urn:p> 1")
    handler = client.connectionManager
    answer = calls.post(
        f"{secure.plain.http}/oauth/revoke",
        data={"token": handler.token},
        headers={"authorization": handler.client_secret},
        timeout=PATIENCE,
    )
    assert answer.status_code == 200
    with pytest.raises(TokenExpiredException):
        insert(client, "<urn:a> <urn:p> 2")
    insert(client, "<urn:a> <urn:p> 2")
