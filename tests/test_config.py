"""Settings come from flags, the environment and a file, in this order, and are checked wherever they come from."""

from contextlib import suppress
from dataclasses import Field
from pathlib import Path
from typing import Any

import pytest

from tidings.server.config import SETTINGS, BadSetting, Settings, read_settings


def written(folder: Path, text: str) -> Path:
    file = folder / "tidings.toml"
    file.write_text(text)
    return file


def test_without_anything_the_defaults_hold() -> None:
    assert read_settings({}, {}) == Settings()


def test_a_flag_beats_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "http_port = 1\nmax_rows = 1\ntimeout = 1\n")
    environment = {"TIDINGS_HTTP_PORT": "2", "TIDINGS_MAX_ROWS": "2"}
    settings = read_settings({"http_port": "3", "max_rows": None}, environment, file)
    assert (settings.http_port, settings.max_rows, settings.timeout) == (3, 2, 1.0)


def test_lists_are_lists_in_the_file_and_have_commas_in_the_environment(tmp_path: Path) -> None:
    assert read_settings({}, {"TIDINGS_LOAD": "a.nt, b.nt"}).load == ("a.nt", "b.nt")
    assert read_settings({}, {}, written(tmp_path, 'load = ["a.nt", "b.nt"]')).load == ("a.nt", "b.nt")
    assert read_settings({"load": ["a,b.nt"]}, {}).load == ("a,b.nt",)


def test_sizes_may_have_units() -> None:
    assert read_settings({"max_body": "3M"}, {}).max_body == 3 << 20
    assert read_settings({"max_body": "2k"}, {}).max_body == 2048
    assert read_settings({"keep_log": "1G"}, {}).keep_log == 1 << 30
    assert read_settings({"keep_log": "0"}, {}).keep_log == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("http_port", "70000"),
        ("http_port", "eighty"),
        ("http_port", "-1"),
        ("timeout", "nan"),
        ("timeout", "soon"),
        ("max_rows", "1.5"),
        ("max_body", "0"),
        ("max_requests", "0"),
        ("read_only", "perhaps"),
        ("log_level", "loud"),
        ("base", "somewhere"),
        ("host", ""),
        ("ws_port", "70000"),
        ("data", ""),
        ("memory", "perhaps"),
        ("durability", "paper"),
        ("slow", "hurry"),
        ("slice", "0"),
        ("ping", "0"),
        ("workers", "0"),
        ("keep_log", "-1"),
        ("segment_size", "0"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"TIDINGS_{name.upper()}: "):
        read_settings({}, {f"TIDINGS_{name.upper()}": value})


@pytest.mark.parametrize(
    "text", ["http_port = true", "ws_port = 1.5", "data = 1", "load = 1", "timeout = true", "host = 1", "cors = [1]"]
)
def test_a_value_of_the_wrong_type_in_the_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSetting, match=text.partition(" ")[0]):
        read_settings({}, {}, written(tmp_path, text))


def test_an_unknown_key_in_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="prot"):
        read_settings({}, {}, written(tmp_path, "prot = 8000"))


def test_a_file_that_is_no_toml_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="not TOML"):
        read_settings({}, {}, written(tmp_path, "http_port: 8000"))
    with pytest.raises(BadSetting, match="No such file"):
        read_settings({}, {}, tmp_path / "nope.toml")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("value", [{}, {"a": 1}, [[]], [{}], [1], -1, float("nan"), 1e308, "\0", None], ids=repr)
def test_whatever_a_file_may_have_is_read_or_refused(setting: Field[Any], value: object) -> None:
    with suppress(ValueError):
        setting.metadata["reads"](value)


@pytest.mark.parametrize("given", ["https://App.example.org/", "HTTPS://app.example.org", ["https://app.example.org"]])
def test_an_origin_is_read_as_browsers_send_it(given: object) -> None:
    assert read_settings({"cors": given}, {}).cors == ("https://app.example.org",)


@pytest.mark.parametrize(
    "given", ["app.example.org", "https://app.example.org/page", "https://", "null", "*.example.org"]
)
def test_what_no_browser_sends_as_an_origin_is_refused(given: str) -> None:
    with pytest.raises(BadSetting, match=r"--cors: .*such as https://app\.example\.org"):
        read_settings({"cors": given}, {})


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_default_passes_its_own_check(setting: Field[Any]) -> None:
    if setting.default is not None:
        assert setting.metadata["reads"](setting.default) == setting.default
