"""Sarah's parking, with one command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import WHOLE

EXAMPLE = Path(__file__).parents[2] / "examples/parking"


@pytest.mark.server
def test_sarah_hears_of_the_spots_that_are_free_and_of_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "run.py")], capture_output=True, text=True, timeout=WHOLE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = re.findall(r"-> http://city.example/(\S+): (.*) \(degree 0\.[5-9]\d\)", done.stdout)
    assert found == [
        ("quay", "parking vacancy = 3, town = Galway"),
        ("spanish-arch", "parking vacancy = 12, town = Galway"),
    ]
    told = (EXAMPLE / "README.md").read_text()
    steady = re.compile(r"degree \d\.\d+")
    assert steady.sub("", done.stdout) in steady.sub("", told)
