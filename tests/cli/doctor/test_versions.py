"""Requirements and versions are read as `packaging` reads them, as far as the metadata of Tidings goes."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tidings.cli.doctor.packages import requirements
from tidings.cli.doctor.versions import Requirement, key, read_requirement

NAME = re.compile(r"[\w-]+")
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"

releases = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
suffixes = st.tuples(
    st.sampled_from(("", "a0", "b1", "rc1", "rc2")),
    st.sampled_from(("", ".post0", ".post1")),
    st.sampled_from(("", ".dev0", ".dev3")),
    st.sampled_from(("", "+local.1")),
).map("".join)
versions = st.tuples(st.sampled_from(("", "1!")), releases, suffixes).map("".join)


@given(versions, versions)
def test_versions_are_in_the_order_of_their_keys(one: str, other: str) -> None:
    first, second = (Version(each.partition("+")[0]) for each in (one, other))
    assert (key(one) < key(other)) == (first < second)
    assert (key(one) == key(other)) == (first == second)


@given(st.sampled_from((">=", "<", "==")), releases, versions)
def test_a_range_allows_what_pip_would_take(operator: str, bound: str, version: str) -> None:
    allowed = Requirement("it", ((operator, bound),)).allows(version)
    assert allowed == SpecifierSet(operator + bound).contains(version, prereleases=True)


def test_every_requirement_of_ours_can_be_read() -> None:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    texts = [*project["dependencies"], *(text for each in project["optional-dependencies"].values() for text in each)]
    read = [read_requirement(text) for text in texts]
    assert [each.name for each in read] == [NAME.match(text)[0] for text in texts]  # type: ignore[index]
    assert {each.name for each in requirements()} >= {"httpx", "pyspark", "jinja2", "aiomqtt"}


def test_a_requirement_has_a_range_and_an_extra() -> None:
    read = read_requirement("""coverage[toml]<8,>=7.6 ; extra == "dev" """)
    assert (read.name, read.extra, str(read)) == ("coverage", "dev", "coverage>=7.6,<8")
    assert read_requirement("regex") == Requirement("regex", ())
    assert read.allows("7.6.1")
    assert not read.allows("8.0")
    assert not read.allows("of yesterday")


@pytest.mark.parametrize("text", ["", "it~=1.0", "it>=1; python_version < '3.12'", "it @ file:///it.whl", "it>="])
def test_what_our_metadata_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="requirement"):
        read_requirement(text)
