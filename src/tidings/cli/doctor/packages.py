"""Checks what is installed: Tidings itself, Python, the packages that it needs, and those of the extras."""

import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TypeAlias

import tidings
from tidings.cli.doctor.finding import Finding
from tidings.cli.doctor.versions import Requirement, read_requirement
from tidings.extras import EXTRAS, WITHOUT_DEPENDENCIES, clone, how_to_get, how_to_install

Installed: TypeAlias = Callable[[str], str | None]
"""Returns the version of a package, or None if it is not installed."""

OLDEST, NEWEST = (3, 11), (3, 13)
"""The versions of Python with which Tidings is tested. It does not run on older ones."""


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def requirements() -> list[Requirement]:
    """The requirements of Tidings and of all its extras, from the metadata of the package, or else from its clone."""
    texts = (requires("tidings") or ()) if installed("tidings") else _of_clone()
    return [read_requirement(text) for text in texts]


def _of_clone() -> Iterator[str]:
    import tomllib  # imported here because a Python that is too old does not have it

    if (root := clone()) is not None:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        yield from project["dependencies"]
        for extra, texts in project["optional-dependencies"].items():
            yield from (f"{text}; extra == '{extra}'" for text in texts)


# -- Tidings and Python -------------------------------------------------------------------------------------------


def check_tidings(stated: str | None) -> Finding:
    """`stated` is the version in the metadata of the package, which is that of the last installation."""
    found = f"{tidings.__version__}, in {Path(tidings.__file__).parent}"
    if stated is None:
        return Finding("Tidings", "note", f"{found}, not installed as a package", how_to_install())
    if stated != tidings.__version__:
        advice = f"install it anew, for what this version needs: {how_to_install()}"
        return Finding("Tidings", "note", f"{found}, installed as {stated}", advice)
    return Finding("Tidings", "ok", found)


def check_python(running: tuple[int, int, int] | None = None) -> Finding:
    running = running or sys.version_info[:3]
    tested = f"{_dotted(OLDEST)} to {_dotted(NEWEST)}"
    number = ".".join(map(str, running))
    found = f"{number} on {platform.system()} {platform.machine()}, {sys.executable}"
    if running[:2] < OLDEST:
        advice = f"install Python {tested}; in a clone, PYTHON=/path/to/python{_dotted(NEWEST)} scripts/setup takes it"
        return Finding("Python", "problem", f"{found}, which is too old", advice)
    if running[:2] > NEWEST:
        return Finding("Python", "note", f"{found}, which Tidings was not tested with", f"tested are {tested}")
    return Finding("Python", "ok", found)


def _dotted(number: tuple[int, int]) -> str:
    return f"{number[0]}.{number[1]}"


# -- packages -----------------------------------------------------------------------------------------------------


def check_packages(known: Iterable[Requirement], version_of: Installed = installed) -> Finding:
    """Check the packages that Tidings always needs."""
    needed = [each for each in known if not each.extra]
    amiss = [each for each in needed if not _is_met(each, version_of)]
    if not needed:
        return Finding("packages", "problem", "unknown, as Tidings is not installed as a package", how_to_install())
    if amiss:
        return Finding("packages", "problem", _told(amiss, version_of), f"pip install {_quoted(amiss)}")
    return Finding("packages", "ok", f"all {len(needed)}, in the versions that Tidings asks for")


def check_extra(
    name: str, known: Iterable[Requirement], version_of: Installed = installed, *, wanted: bool = False
) -> Finding:
    """Check the packages of an extra. They may be missing unless the extra is wanted, but not of a wrong version."""
    parts = [each for each in known if each.extra == name and each.name != "tidings"]
    if name in WITHOUT_DEPENDENCIES:
        parts.append(read_requirement(WITHOUT_DEPENDENCIES[name]))
    missing = [each for each in parts if version_of(each.name) is None]
    wrong = [each for each in parts if each not in missing and not _is_met(each, version_of)]
    title = f"extra {name}"
    if wrong:
        alone = "--no-deps " if name in WITHOUT_DEPENDENCIES else ""
        return Finding(title, "problem", _told(wrong, version_of), f"pip install {alone}{_quoted(wrong)}")
    if missing or not parts:
        partly = 0 < len(missing) < len(parts)
        found = f"partly installed: {_told(missing, version_of)}" if partly else "not installed"
        advice = f"for {EXTRAS[name]}: {how_to_get(name)}"
        return Finding(title, "problem" if wanted else "note", found, advice)
    return Finding(title, "ok", ", ".join(f"{each.name} {version_of(each.name)}" for each in parts))


def check_matplotlib(version_of: Installed = installed) -> Finding:
    found = version_of("matplotlib")
    if found is None:
        return Finding("matplotlib", "note", "not installed", f"for charts: {how_to_get('bench')}")
    return Finding("matplotlib", "ok", f"{found}, for charts")


def _is_met(requirement: Requirement, version_of: Installed) -> bool:
    found = version_of(requirement.name)
    return found is not None and requirement.allows(found)


def _told(amiss: Iterable[Requirement], version_of: Installed) -> str:
    found = [(each, version_of(each.name)) for each in amiss]
    missing = [each.name for each, there in found if there is None]
    told = [f"{each.name} {there} is not {each.range}" for each, there in found if there is not None]
    if missing:
        told.append(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return "; ".join(told)


def _quoted(amiss: Iterable[Requirement]) -> str:
    return " ".join(shlex.quote(str(each)) for each in amiss)
