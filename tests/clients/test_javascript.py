"""Our own client for JavaScript: its unit tests, compiled and run by Node."""

import subprocess
from pathlib import Path

from dashboard.tools import ROOT, builder, tool
from waiting import PATIENCE


def test_the_unit_tests_of_the_client_pass(tmp_path: Path) -> None:
    node = tool("node")
    builder().install(Path(node))
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    compiled = [node, str(compiler), "-p", str(ROOT / "clients" / "js"), "--outDir", str(tmp_path)]
    subprocess.run(compiled, check=True, timeout=5 * PATIENCE)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    tests = sorted((tmp_path / "test").glob("*.test.js"))
    assert len(tests) >= 3
    done = subprocess.run([node, "--test", *tests], capture_output=True, text=True, timeout=5 * PATIENCE, check=False)
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout
