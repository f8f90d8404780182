"""What the dashboard is built and tested with: Node and its packages, as in scripts/page."""

import importlib.util
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@cache
def tool(name: str) -> str:
    """A program, as `scripts/tool` finds or gets it. Without it the tests fail: a page not tested is not supported."""
    found = subprocess.run([ROOT / "scripts" / "tool", name], capture_output=True, text=True, timeout=900, check=False)
    if found.returncode:
        pytest.fail(f"the dashboard cannot be tested without {name}:\n{found.stderr}", pytrace=False)
    return found.stdout.strip()


@cache
def builder() -> ModuleType:
    """`dashboard/build.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("dashboard_build", ROOT / "dashboard" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def built() -> Path:
    """The folder of the page, as its sources are now."""
    builder().build(Path(tool("node")))
    folder = builder().BUILT
    assert isinstance(folder, Path)
    return folder
