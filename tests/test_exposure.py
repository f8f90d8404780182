"""A broker that asks nobody who they are is reachable from this machine only, unless that is said twice."""

from dataclasses import replace
from typing import Any

import pytest

from tidings.server import app
from tidings.server.config import BadSetting, Settings
from tidings.server.exposure import check_exposure, is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_this_machine_needs_no_permission(host: str) -> None:
    assert is_local(host)
    check_exposure(Settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "192.168.1.1", "2001:db8::1"])
def test_other_addresses_have_to_be_allowed(host: str) -> None:
    with pytest.raises(BadSetting, match="--allow-insecure"):
        check_exposure(Settings(host=host))
    check_exposure(Settings(host=host, allow_insecure=True))


@pytest.mark.parametrize("settings", [Settings(audit_log="done.jsonl"), Settings(access_log="asked.jsonl")])
def test_there_is_no_record_where_nobody_is_asked_who_they_are(settings: Settings) -> None:
    with pytest.raises(BadSetting, match="--secure"):
        check_exposure(settings)
    check_exposure(replace(settings, secure=True))


def test_nothing_is_listened_to_before_that() -> None:
    said: list[object] = []
    with pytest.raises(BadSetting, match=r"--host 0\.0\.0\.0"):
        app.serve(Settings(host="0.0.0.0", memory=True), lambda: (), said.append, said.append)
    assert not said


def test_a_name_that_nobody_knows_is_left_to_whoever_listens() -> None:
    assert is_local("nowhere.invalid")


SAFE = [{"tls_certificate": "server.pem"}, {"trusted_proxies": ("10.0.0.1",)}, {"allow_insecure": True}]


@pytest.mark.parametrize("safe", SAFE, ids=str)
def test_tokens_are_taken_from_elsewhere_only_where_nobody_can_read_them_on_their_way(safe: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match="secrets and tokens"):
        check_exposure(Settings(host="10.0.0.5", secure=True))
    check_exposure(Settings(host="10.0.0.5", secure=True, **safe))


def test_ports_without_tls_are_no_way_around() -> None:
    with pytest.raises(BadSetting, match="--plain-host"):
        check_exposure(Settings(host="0.0.0.0", plain_host="0.0.0.0", secure=True, tls_certificate="server.pem"))


def test_a_certificate_alone_asks_nobody_who_they_are() -> None:
    with pytest.raises(BadSetting, match="nobody is asked"):
        check_exposure(Settings(host="0.0.0.0", tls_certificate="server.pem"))


def test_certificates_that_clients_have_to_show_say_who_they_are() -> None:
    required = Settings(host="0.0.0.0", tls_certificate="server.pem", tls_client_ca="clients.pem")
    check_exposure(required)
    with pytest.raises(BadSetting, match="--secure"):
        check_exposure(replace(required, tls_client="optional"))
    with pytest.raises(BadSetting, match="--plain-host"):
        check_exposure(replace(required, plain_host="0.0.0.0"))


def test_coap_is_for_this_machine_only_whatever_else_is_safe() -> None:
    safe = Settings(host="0.0.0.0", secure=True, tls_certificate="server.pem", coap_port=5683)
    with pytest.raises(BadSetting, match="--coap-port"):
        check_exposure(safe)
    check_exposure(replace(safe, coap_host="127.0.0.1"))
    check_exposure(replace(safe, allow_insecure=True))
