"""`tidings clients`, `grants` and `keys` at a broker with security: what they do, print and complain of."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.administered import administered, token_of
from cli.calls import in_terminal
from cli.shell import EXAMPLES, command_of, furnish, shell
from gates.wire import Broker
from plain import calls
from tidings.cli import SECURITY, main
from waiting import PATIENCE

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, str]]:
    with administered(tmp_path_factory.mktemp("secured")) as (broker, token):
        yield broker, token


@pytest.fixture
def secure(office: tuple[Broker, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broker:
    """The broker, as the environment names it, and the token of its administrator."""
    broker, token = office
    monkeypatch.setenv("TIDINGS_HTTP", broker.http)
    monkeypatch.setenv("TIDINGS_TOKEN", token)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return broker


def said(capsys: Captured, *arguments: str, code: int = 0) -> str:
    """What a command prints; or complains of, in one line, if it has to end with another code."""
    assert main(arguments) == code
    out, err = capsys.readouterr()
    if code:
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith("tidings: error: ")
        return str(err)
    return str(out)


def asked(broker: Broker, token: str) -> int:
    """How a query of somebody ends."""
    headers = {"authorization": f"Bearer {token}"}
    form = {"query": "ASK {}"}
    return calls.post(f"{broker.http}/query", data=form, headers=headers, timeout=PATIENCE).status_code


def test_the_life_of_a_client(secure: Broker, capsys: Captured) -> None:
    assert main(["clients", "add", "lamp/1", "--role", "lamps", "--scope", "read", "--scope", "write"]) == 0
    out, err = capsys.readouterr()
    secret = out.strip()
    assert out == f"{secret}\n"
    assert err == "lamp/1 was added; its secret, which is told only now:\n"
    token = token_of(secure, "lamp/1", secret)
    assert asked(secure, token) == 200
    head, *rows = (line.split("\t") for line in said(capsys, "clients").splitlines())
    assert head == ["client", "roles", "scopes", "registered"]
    assert ["lamp/1", "lamps", "read write"] in [row[:3] for row in rows]
    assert ["admin", "administrators", ""] in [row[:3] for row in rows]
    told = said(capsys, "clients", "set", "lamp/1", "--role", "streets")
    assert told == "lamp/1 has the roles streets and the scopes read write\n"
    told = json.loads(said(capsys, "clients", "set", "lamp/1", "--no-scopes", "--json"))
    assert (told["roles"], told["scopes"]) == (["streets"], [])
    assert "granted     nothing" in said(capsys, "clients", "show", "lamp/1")
    said(capsys, "grants", "add", "--name", "streets", "--to", "role:streets", "--query", "*")
    shown = said(capsys, "clients", "show", "lamp/1").splitlines()
    assert shown[0] == "client      lamp/1"
    assert shown[-1].split("\t") == ["streets", "role:streets", "*", "-", "-", "-"]
    assert said(capsys, "clients", "revoke", "lamp/1") == "revoked all tokens of lamp/1\n"
    assert asked(secure, token) == 401
    assert asked(secure, token_of(secure, "lamp/1", secret)) == 200
    assert said(capsys, "clients", "remove", "lamp/1") == "removed lamp/1\n"
    assert "there is no client 'lamp/1'" in said(capsys, "clients", "show", "lamp/1", code=1)
    said(capsys, "grants", "remove", "streets")


def test_grants_are_set_from_a_file_added_to_and_removed(secure: Broker, capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text('[[grant]]\nto = "everyone"\nquery = ["default"]\n')
    assert said(capsys, "grants", "set", "town", "g.toml") == "town has 1 grant\n"
    added = ("grants", "add", "--name", "town", "--to", "role:x", "--update", "http://e.org/a", "--update", "default")
    assert said(capsys, *added) == said(capsys, *added) == "town has 2 grants\n"
    rows = [line.split("\t") for line in said(capsys, "grants", "list", "town").splitlines()]
    assert rows == [
        ["name", "to", "query", "update", "subscribe", "administer"],
        ["town", "everyone", "default", "-", "-", "-"],
        ["town", "role:x", "-", "http://e.org/a default", "-", "-"],
    ]
    every = [json.loads(line) for line in said(capsys, "grants", "--json").splitlines()]
    assert {"name": "town", "to": "everyone", "query": ["default"]} in every
    assert [each["name"] for each in every if each.get("administer")] == ["file"]
    assert "town" in in_terminal("grants", columns=150)
    assert said(capsys, "grants", "remove", "town") == "removed the grants of town\n"
    assert "no grants under the name town" in said(capsys, "grants", "remove", "town", code=1)


def test_a_key_signs_until_the_next_one_does(secure: Broker, capsys: Captured) -> None:
    before = [line.split("\t") for line in said(capsys, "keys").splitlines()]
    assert before[-1][3] == "signs"
    kid = said(capsys, "keys", "rotate").split()[2]
    keys = [json.loads(line) for line in said(capsys, "keys", "--json").splitlines()]
    assert [(key["kid"], key["signs"]) for key in keys[-2:]] == [(before[-1][0], False), (kid, True)]
    assert said(capsys, "keys", "drop", kid) == f"dropped the key {kid}, and everything it signed\n"
    assert f"there is no key '{kid}'" in said(capsys, "keys", "drop", kid, code=1)


def test_what_is_refused_is_said_in_a_line(secure: Broker, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nobody could administer" in said(capsys, "clients", "remove", "admin", code=1)
    assert "in the file" in said(capsys, "grants", "add", "--name", "file", "--to", "everyone", "--query", "*", code=1)
    secret = json.loads(said(capsys, "clients", "add", "lamp-2", "--json"))["client_secret"]
    assert "there is a client lamp-2" in said(capsys, "clients", "add", "lamp-2", code=1)
    token = token_of(secure, "lamp-2", secret)
    assert "for administrators" in said(capsys, "keys", "--token", token, code=1)
    said(capsys, "clients", "remove", "lamp-2")
    monkeypatch.delenv("TIDINGS_TOKEN")
    assert main(["clients"]) == 1
    assert "tidings login" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("clients", "add"), "tidings clients add NAME"),
        (("clients", "show", "a", "b"), "tidings clients show NAME"),
        (("clients", "remove"), "tidings clients remove NAME"),
        (("clients", "list", "a"), "tidings clients show a"),
        (("clients", "show", "a", "--role", "x"), "go with add and set"),
        (("clients", "set", "a"), "say what to change"),
        (("clients", "set", "a", "--role", "x", "--no-roles"), "not both"),
        (("clients", "add", "a", "--no-roles"), "go with set"),
        (("clients", "ad"), "invalid choice"),
        (("grants", "add"), "say to whom"),
        (("grants", "add", "--to", "everybody", "--query", "*"), "--to: 'everybody' is none of"),
        (("grants", "add", "--to", "everyone", "--query", "x"), "--query[0]: 'x' is no absolute IRI"),
        (("grants", "add", "--to", "everyone"), "it grants nothing"),
        (("grants", "set", "a"), "tidings grants set NAME FILE"),
        (("grants", "set", "a", "nowhere.toml"), "nowhere.toml: No such file"),
        (("grants", "set", "a", "bad.toml"), "bad.toml: "),
        (("grants", "set", "a", "none.toml"), "it has no tables [[grant]]"),
        (("grants", "set", "a", "more.toml"), "it has tokens beside tables [[grant]]"),
        (("grants", "remove"), "tidings grants remove NAME"),
        (("grants", "remove", "a", "b"), "reads no file"),
        (("grants", "list", "--query", "*"), "go with add"),
        (("keys", "drop"), "tidings keys drop KID"),
        (("keys", "rotate", "x"), "tidings keys drop KID"),
    ],
)
def test_a_call_that_makes_no_sense_is_explained_before_anybody_is_asked(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDINGS_HTTP", "http://127.0.0.1:1")
    Path("bad.toml").write_text("grant = [")
    Path("none.toml").write_text("")
    Path("more.toml").write_text('tokens = {seconds = 60}\n[[grant]]\nto = "everyone"\nquery = ["*"]\n')
    assert complaint in said(capsys, *arguments, code=2)


def test_a_mistake_in_a_file_is_named_with_its_place(secure: Broker, capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text('[[grant]]\nto = "everyone"\nquery = ["default"]\nupdate = ["x"]\n')
    assert "g.toml: grant[0].update[0]: 'x' is no" in said(capsys, "grants", "set", "town", "g.toml", code=1)


def test_a_broker_without_security_says_that_it_has_none(broker: Broker, capsys: Captured) -> None:
    for name in SECURITY:
        assert "served with security on (--secure)" in said(capsys, name, code=1)


def test_what_was_answered_is_there_after_a_kill(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed() -> list[str]:
        return [said(capsys, *command) for command in (("clients",), ("grants",), ("keys",))]

    def enter(broker: Broker, token: str) -> None:
        monkeypatch.setenv("TIDINGS_HTTP", broker.http)
        monkeypatch.setenv("TIDINGS_TOKEN", token)

    with administered(tmp_path) as (broker, token):
        enter(broker, token)
        secret = said(capsys, "clients", "add", "lamp-1", "--role", "lamps").strip()
        said(capsys, "clients", "add", "lamp-2")
        said(capsys, "clients", "remove", "lamp-2")
        said(capsys, "grants", "add", "--name", "lamps", "--to", "role:lamps", "--query", "*")
        said(capsys, "keys", "rotate")
        before = listed()
        broker.process.kill()
        broker.process.wait(PATIENCE)
    with administered(tmp_path) as (broker, token):
        enter(broker, token)
        assert listed() == before
        assert asked(broker, token_of(broker, "lamp-1", secret)) == 200


@pytest.mark.parametrize("name", SECURITY)
def test_the_examples_of_the_help_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    examples = [line for line in EXAMPLES if command_of(line) == name]
    assert len(examples) >= 3
    furnish(tmp_path)
    with administered(tmp_path) as (broker, token):
        monkeypatch.setenv("TIDINGS_TOKEN", token)
        done = shell("set -e\n" + "\n".join(examples), tmp_path, broker)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
