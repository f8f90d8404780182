"""Reads profiles from JSON, and merges each document with those that it includes.

Objects are merged member by member, and the including document takes precedence. Its updates and queries, however,
replace included ones of the same name as a whole, with text and forced bindings.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidings.client.jsap.mistakes import ROOT, BadProfile, Mistake, Mistakes, below, shown

_WHOLE = frozenset({"updates", "queries"})


@dataclass(frozen=True, slots=True)
class Document:
    """A profile with everything it includes, and for each JSON path the file that it came from ("" for its own)."""

    members: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)


def read_document(source: Path | str | Mapping[str, Any]) -> Document:
    """Read a file, a JSON text (a string that starts with `{`), or a parsed JSON object. Raises BadProfile."""
    reader = _Reader()
    if isinstance(source, Mapping):
        document = reader.included(reader.copied(source), Path(), "", ())
    elif isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{"):
        document = reader.included(reader.parsed(source, ""), Path(), "", ())
    else:
        document = reader.file(Path(source), "", ())
    if reader.mistakes:
        raise BadProfile(reader.mistakes)
    return document


def overlaid(below_: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge one object over another, member by member; a null member counts as missing."""
    merged = {name: value for name, value in below_.items() if value is not None}
    for name, value in above.items():
        if value is None:
            continue
        under = merged.get(name)
        merged[name] = overlaid(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def hyphenated(graphs: Mapping[str, Any]) -> dict[str, Any]:
    """The members of `graphs` in the spelling of the SPARQL Protocol, from either spelling."""
    return {name.replace("_", "-"): value for name, value in graphs.items()}


class _Reader:
    """Reads documents. After a mistake, it goes on, to find the others."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def file(self, path: Path, name: str, around: tuple[Path, ...]) -> Document:
        path = path.resolve()
        if path in around:
            chain = " > ".join(step.name for step in (*around[around.index(path) :], path))
            self.mistakes.append(Mistake(f"{ROOT}.include", f"the files include each other: {chain}", name))
            return Document({})
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            self.mistakes.append(Mistake(ROOT, f"{path.name} cannot be read: {reason}", name))
            return Document({})
        return self.included(self.parsed(text, name), path.parent, name, (*around, path))

    def parsed(self, text: str, name: str) -> dict[str, Any]:
        twice: list[str] = []

        def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                names = [name for name, _ in pairs]
                twice.extend(name for name in found if names.count(name) > 1)
            return found

        try:
            document = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=members)
        except json.JSONDecodeError as error:
            what = f"line {error.lineno}, column {error.colno}: {error.msg}"
            self.mistakes.append(Mistake(ROOT, f"not JSON: {what}", name))
            return {}
        except RecursionError:
            self.mistakes.append(Mistake(ROOT, "nested too deeply", name))
            return {}
        for member in twice:
            self.mistakes.append(Mistake(ROOT, f"the member {shown(member)} is given twice in one object", name))
        if not isinstance(document, dict):
            self.mistakes.append(Mistake(ROOT, f"must be an object, not {shown(document)}", name))
            return {}
        return document

    def copied(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """A private copy that contains only JSON values."""
        try:
            copy: dict[str, Any] = json.loads(json.dumps(dict(source)))
        except (TypeError, ValueError, RecursionError) as error:
            self.mistakes.append(Mistake(ROOT, f"not JSON: {error}"))
            return {}
        return copy

    def included(self, members: dict[str, Any], folder: Path, name: str, around: tuple[Path, ...]) -> Document:
        """A document merged over those that it includes; later ones of these take precedence over earlier ones."""
        merged: dict[str, Any] = {}
        files: dict[str, str] = {}
        for inner in self._inclusions(members.get("include"), name):
            document = self.file(folder / inner, inner, around)
            merged = _laid_over(merged, document.members)
            files |= document.files
        files |= dict.fromkeys(_paths(members, ROOT), name)
        merged = _laid_over(merged, {key: value for key, value in members.items() if key != "include"})
        return Document(merged, files)

    def _inclusions(self, value: object, name: str) -> list[str]:
        """`include` is a list of files, or an object with files as its values."""
        mistakes = Mistakes()
        path = f"{ROOT}.include"
        named = [(below(path, key), file) for key, file in value.items()] if isinstance(value, dict) else []
        found = [file for at, file in named if mistakes.text(file, at) is not None]
        if not isinstance(value, dict):
            found = [file for _, file in mistakes.texts(value, path)]
        self.mistakes += [Mistake(mistake.path, mistake.text, name) for mistake in mistakes.found]
        return found


def _laid_over(merged: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    result = overlaid(merged, members)
    for section in _WHOLE:
        under, over = merged.get(section), members.get(section)
        if isinstance(under, dict) and isinstance(over, dict):
            result[section] = under | over
    under, over = merged.get("graphs"), members.get("graphs")
    if isinstance(under, dict) and isinstance(over, dict):
        said = hyphenated(over)
        result["graphs"] = {key: value for key, value in under.items() if key.replace("_", "-") not in said} | over
    return result


def _paths(value: object, path: str) -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _paths(member, below(path, name))
