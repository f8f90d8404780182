"""Results as they stand in answers."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tidings.model.formats.results.json import Bindings, Head, ResultsDocument


def table(variables: Iterable[str], bindings: Iterable[Mapping[str, Any]] = ()) -> ResultsDocument:
    return ResultsDocument(Head(list(variables)), msgspec.convert({"bindings": list(bindings)}, Bindings))


def truth(value: bool) -> ResultsDocument:
    return ResultsDocument(boolean=value)
