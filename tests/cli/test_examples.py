"""What the help shows works at a running broker, and shells complete it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.shell import EXAMPLES, furnish, needs_broker, shell
from gates.wire import Broker
from tidings.cli import COMMANDS, command, main
from waiting import PATIENCE

Captured = pytest.CaptureFixture[str]


@pytest.mark.server
@pytest.mark.parametrize("example", [line for line in EXAMPLES if needs_broker(line)])
def test_every_example_of_the_help_runs_at_a_broker(broker: Broker, tmp_path: Path, example: str) -> None:
    broker.update("INSERT DATA { <http://example.org/a> <http://example.org/power> 1 }")
    (tmp_path / "given").mkdir()
    furnish(tmp_path / "given")
    done = shell(example, tmp_path / "given", broker)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    quiet = any(word in example for word in ("--output", "> ", "tidings load", "xargs", "subscriptions --json"))
    assert done.stdout or quiet or "delayed list --json" in example


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_shell_can_read_its_completion(capsys: Captured, tmp_path: Path, name: str) -> None:
    assert main(["completion", name]) == 0
    script = capsys.readouterr().out
    for each in COMMANDS:
        assert each in script
        for action in command(each).parser()._actions:
            for option in action.option_strings:
                assert option in script or (name == "fish" and f" {'-l' if option[1] == '-' else '-s'} " in script)
    if shell_program := shutil.which(name):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell_program, "-n", str(tmp_path / "script")], check=True, timeout=PATIENCE)


def completed(words: str, folder: Path) -> set[str]:
    """What bash offers for the last of these words."""
    script = (
        "tidings completion bash > c.bash && source c.bash\n"
        f'COMP_WORDS=({words}); [[ "{words[-1:]}" == " " ]] && COMP_WORDS+=("")\n'
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tidings; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = shell(script, folder)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_bash_offers_commands_options_values_and_files(tmp_path: Path) -> None:
    (tmp_path / "city.nt").touch()
    assert completed("tidings sub", tmp_path) == {"subscribe", "subscriptions"}
    assert completed("tidings query --def", tmp_path) == {"--default-graph"}
    assert completed("tidings query --format t", tmp_path) == {"table", "tsv", "turtle", "trig"}
    assert completed("tidings log --format ", tmp_path) == {"json", "patch"}
    assert completed("tidings delayed c", tmp_path) == {"cancel"}
    assert completed("tidings clients re", tmp_path) == {"revoke", "remove"}
    assert completed("tidings load ci", tmp_path) == {"city.nt"}
    assert completed("tidings completion ", tmp_path) == {"bash", "zsh", "fish"}
