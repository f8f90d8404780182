"""The rooms: the documentation, the import contract and the folders agree on them, and none of them is crowded."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tidings"
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
MOST_MODULES = 15
MOST_LINES = 400

FOLDERS = sorted({path.parent for path in SOURCE.rglob("*.py")})
MODULES = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]


def documented() -> list[set[str]]:
    """The rooms of the table, layer by layer."""
    layers: dict[int, set[str]] = {}
    for number, room in re.findall(r"^\| (\d+) \| `(\w+)` \|", ARCHITECTURE, re.MULTILINE):
        layers.setdefault(int(number), set()).add(room)
    return [layers[number] for number in sorted(layers)]


def enforced() -> list[set[str]]:
    """The rooms of the import contract, layer by layer; those in parentheses are yet to come."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (stacked,) = (each for each in contracts if each["type"] == "layers")
    layers = [
        {name.removeprefix("tidings.") for name in layer.split(" | ") if not name.startswith("(")}
        for layer in stacked["layers"]
    ]
    return [layer for layer in layers if layer]


def test_the_table_of_rooms_is_the_import_contract() -> None:
    assert documented() == enforced()


def test_the_table_of_rooms_is_the_folders() -> None:
    there = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    there |= {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("__")}
    assert {room for layer in documented() for room in layer} == there


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\b((?:\w+/)+\w+\.py)\b", ARCHITECTURE))))
def test_every_file_that_the_architecture_names_is_there(name: str) -> None:
    assert (SOURCE / name).exists() or (ROOT / name).exists()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_no_room_is_crowded(folder: Path) -> None:
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES


def test_no_module_is_too_long_to_be_read_at_once() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in sizes.items() if lines > MOST_LINES} == {}


def test_every_room_says_what_is_in_it() -> None:
    for folder in FOLDERS:
        if folder != SOURCE:
            assert (folder / "__init__.py").read_text().startswith('"""'), folder
