"""`tidings completion`: prints the completion script of a shell, generated from the parsers of all commands."""

import argparse
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass

from tidings.cli.input.arguments import Parser

DESCRIPTION = """\
Print a script that makes a shell complete the commands of tidings and their options. Where arguments are files, files
are offered."""
EXAMPLES = """\
examples:
  tidings completion bash > tidings.bash && source tidings.bash
  tidings completion zsh > _tidings
  tidings completion fish > tidings.fish
"""
_FILES = {"FILE", "IN", "OUT", "DIR", "IRI=FILE"}
_FORMATS = "turtle trig ntriples nquads rdfxml jsonld"
_NAMES = {"query": f"table json xml csv tsv {_FORMATS}", "history": "table json xml csv tsv parquet"}


def parser() -> Parser:
    result = Parser("tidings completion", DESCRIPTION, EXAMPLES)
    result.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    return result


def run(arguments: Namespace) -> int:
    write = {"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell]
    print("\n".join(write(commands())))
    return 0


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, its help, and, if it takes a value, the words or the kind of files to complete."""

    names: tuple[str, ...]
    summary: str
    value: str | None
    words: str
    files: bool


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    summary: str
    options: tuple[Option, ...]
    words: str
    """The words that its first argument may be."""


def commands() -> list[Command]:
    """All commands, from their parsers."""
    from tidings import cli

    found = []
    for name, summary in cli.COMMANDS.items():
        actions = cli.command(name).parser()._actions
        options = tuple(_option(name, action) for action in actions if action.option_strings)
        words = " ".join(str(word) for action in actions if not action.option_strings for word in action.choices or ())
        found.append(Command(name, summary, options, words))
    return found


def _option(command: str, action: argparse.Action) -> Option:
    takes = action.nargs != 0
    metavar = str(action.metavar or action.dest.upper())
    words = " ".join(map(str, action.choices or ()))
    if not words and takes and any(_is_format(command, name) for name in action.option_strings):
        words = _NAMES.get(command, _FORMATS) if action.dest == "format" else _FORMATS
    summary = (action.help or "").replace("%(default)s", f"{action.default}").replace("%%", "%")
    return Option(tuple(action.option_strings), summary, metavar if takes else None, words, metavar in _FILES)


def _is_format(command: str, name: str) -> bool:
    return name in {"--format", "--data-format"} or (command == "convert" and name in {"--from", "--to"})


# -- shells -----------------------------------------------------------------------------------------------------


def bash(known: list[Command]) -> Iterator[str]:
    yield "# Completion of tidings for bash."
    yield "_tidings() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}"'
    yield "  if ((COMP_CWORD == 1)); then"
    yield f'    COMPREPLY=($(compgen -W "{" ".join(command.name for command in known)} --help --version" -- "$word"))'
    yield "    return"
    yield "  fi"
    yield '  local options="" words=""'
    yield '  case "${COMP_WORDS[1]}" in'
    for command in known:
        names = " ".join(name for option in command.options for name in option.names)
        yield f"    {command.name})"
        yield f'      options="{names}"'
        if command.words:
            yield f'      words="{command.words}"'
        yield from _bash_values(command)
        yield "      ;;"
    yield "  esac"
    yield '  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))'
    yield '  elif [[ $words ]] && ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield '  else COMPREPLY=($(compgen -f -- "$word")); fi'
    yield "}"
    yield "complete -o filenames -F _tidings tidings"


def _bash_values(command: Command) -> Iterator[str]:
    yield '      case "$last" in'
    for option in command.options:
        if option.value is None:
            continue
        offer = f'-W "{option.words}"' if option.words else "-f" if option.files else ""
        answer = f'COMPREPLY=($(compgen {offer} -- "$word"))' if offer else "COMPREPLY=()"
        yield f"        {'|'.join(option.names)}) {answer}; return ;;"
    yield "      esac"


def zsh(known: list[Command]) -> Iterator[str]:
    yield "#compdef tidings"
    yield "_tidings() {"
    yield "  if ((CURRENT == 2)); then"
    yield "    local -a commands=("
    yield from (f"      {_quoted(f'{command.name}:{command.summary}')}" for command in known)
    yield "    )"
    yield "    _describe command commands"
    yield "    return"
    yield "  fi"
    yield "  local name=$words[2]"
    yield "  shift words; ((CURRENT--))"
    yield "  case $name in"
    for command in known:
        yield f"    {command.name})"
        yield "      _arguments -s \\"
        for option in command.options:
            yield from (f"        {_quoted(_zsh_spec(name, option))} \\" for name in option.names)
        yield f"        {_quoted(f'*:argument:({command.words})' if command.words else '*:file:_files')}"
        yield "      ;;"
    yield "  esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _tidings ]]; then _tidings "$@"; else compdef _tidings tidings; fi'


def _zsh_spec(name: str, option: Option) -> str:
    summary = option.summary.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    if option.value is None:
        return f"*{name}[{summary}]"
    action = f"({option.words})" if option.words else "_files" if option.files else " "
    return f"*{name}[{summary}]:{option.value.replace(':', ' ')}:{action}"


def fish(known: list[Command]) -> Iterator[str]:
    yield "# Completion of tidings for fish."
    for command in known:
        yield (f"complete -c tidings -n __fish_use_subcommand -f -a {command.name} -d {_fish_quoted(command.summary)}")
    for command in known:
        lead = f"complete -c tidings -n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            yield f"{lead} -f -a '{command.words}'"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = ""
            if option.value is not None:
                value = f" -x -a '{option.words}'" if option.words else " -r -F" if option.files else " -x"
            yield f"{lead} {names}{value} -d {_fish_quoted(option.summary)}"


def _quoted(text: str) -> str:
    """Quote for bash and zsh, where single quotes take all characters literally except themselves."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
