"""The first administrator: made once, with a secret that no crash loses, and not again while somebody administers."""

import stat
from pathlib import Path

import pytest

from gates.secured import House, secured
from tidings.broker.durability.facts import Facts
from tidings.log.entry import Note
from tidings.security.errors import KeysUnusable
from waiting import asynchronous


class Cut(BaseException):
    """The process ends here."""


async def started(folder: Path) -> None:
    """And stopped at once."""
    async with secured(folder, None, data=str(folder / "data")):
        pass


async def is_let_in(house: House, secret: str) -> bool:
    headers = {"authorization": await house.login("admin", secret)}
    return (await house.http.get("/admin/keys", headers=headers)).status_code == 200


@asynchronous
async def test_the_secret_is_in_a_file_that_only_its_owner_can_read_and_is_made_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    file = data / "admin.secret"
    async with secured(tmp_path, None, data=str(data)) as house:
        assert str(file) in house.said[0]
        secret = file.read_text().strip()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert secret not in house.said[0]
        assert await is_let_in(house, secret)
    file.unlink()
    async with secured(tmp_path, None, data=str(data)) as house:
        assert not house.said
        assert not file.exists()
        assert await is_let_in(house, secret)


@pytest.mark.parametrize("moment", ["before the fact is written", "after it is durable"])
@asynchronous
async def test_a_crash_while_it_is_made_does_not_lose_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    data = tmp_path / "data"
    write = Facts.write

    async def cut(self: Facts, *notes: Note) -> None:
        if notes[0].kind != "client_registered":
            await write(self, *notes)
            return
        if moment == "after it is durable":
            await write(self, *notes)
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr(Facts, "write", cut)
        with pytest.raises(Cut):
            await started(tmp_path)
    async with secured(tmp_path, None, data=str(data)) as house:
        assert await is_let_in(house, (data / "admin.secret").read_text().strip())


@asynchronous
async def test_one_who_was_removed_does_not_come_back_while_somebody_else_administers(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with secured(tmp_path, None, data=str(data)) as house:
        headers = {"authorization": await house.login("admin", (data / "admin.secret").read_text().strip())}
        made = {"client_id": "anna", "roles": ["administrators"]}
        assert (await house.http.post("/admin/clients", json=made, headers=headers)).status_code == 201
        assert (await house.http.delete("/admin/clients/admin", headers=headers)).status_code == 200
    (data / "admin.secret").unlink()
    async with secured(tmp_path, None, data=str(data)) as house:
        assert [client.id for client in house.security.authority.credentials] == ["anna"]
        assert not (data / "admin.secret").exists()


@asynchronous
async def test_a_secret_that_cannot_be_written_keeps_the_broker_from_starting(tmp_path: Path) -> None:
    async with secured(tmp_path, data=str(tmp_path / "data")) as house:  # whose file names an administrator
        assert not house.said
    (tmp_path / "data" / "admin.secret.tmp").mkdir()
    with pytest.raises(KeysUnusable, match=r"admin\.secret cannot be written"):
        await started(tmp_path)
    (tmp_path / "data" / "admin.secret.tmp").rmdir()
    await started(tmp_path)


@pytest.mark.parametrize(
    ("to", "rule", "made"),
    [
        ("client:operator", "", "operator"),
        ("role:operators", "", "admin"),
        ("scope:all", '[[identity]]\nidentity = "lamp-*"\nroles = ["lamps"]', "admin"),
        ("client:operator", '[[identity]]\nidentity = "oper*"', None),
        ("role:operators", '[[identity]]\nidentity = "anna"\nroles = ["operators"]', None),
        ("client:city:anna", '[[provider]]\nname = "city"\nissuer = "https://x.example"\naudience = "t"', None),
    ],
)
@asynchronous
async def test_whom_the_file_names_is_made_if_they_cannot_come_by_themselves(
    tmp_path: Path, to: str, rule: str, made: str | None
) -> None:
    quick = 'tokens = {algorithm = "Ed25519"}\nhashes = {passes = 1, kibibytes = 8, lanes = 1}'
    policy = f'issuer = "http://localhost:8000"\n{quick}\n{rule}\n[[grant]]\nto = "{to}"\nadminister = true\n'
    async with secured(tmp_path, policy, data=str(tmp_path / "data")) as house:
        assert [client.id for client in house.security.authority.credentials] == ([made] if made else [])
        file = tmp_path / "data" / "admin.secret"
        assert file.exists() == (made is not None)
        if made is not None:
            headers = {"authorization": await house.login(made, file.read_text().strip())}
            assert (await house.http.get("/admin/keys", headers=headers)).status_code == 200
