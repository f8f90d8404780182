"""A cache of recently computed arrays of one length, up to a number of bytes."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Asked = TypeVar("Asked", bound=Hashable)
Row: TypeAlias = NDArray[np.float32]

_FEWEST = 64


class Recent(Generic[Asked]):
    """A cache that is emptied when it is full: rows that are used often are soon in it again."""

    def __init__(self, size: int, length: int) -> None:
        self._most = max(_FEWEST, size // (4 * max(1, length)))
        self._rows: dict[Asked, Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def of(
        self, asked: Sequence[Asked], find: Callable[[list[Asked]], Sequence[Row] | NDArray[np.float32]]
    ) -> list[Row]:
        """The row of each key. `find` computes the missing rows, each once."""
        rows = self._rows
        found = [rows.get(each) for each in asked]
        missing = [each for each, row in zip(asked, found, strict=True) if row is None]
        if not missing:
            return [row for row in found if row is not None]
        missing = list(dict.fromkeys(missing))
        fresh = dict(zip(missing, find(missing), strict=True))
        complete = [fresh[each] if row is None else row for each, row in zip(asked, found, strict=True)]
        self._remember(fresh)
        return complete

    def _remember(self, fresh: dict[Asked, Row]) -> None:
        if len(fresh) > self._most - len(self._rows):
            self._rows.clear()
        for each in list(fresh)[: self._most]:
            self._rows[each] = fresh[each]
