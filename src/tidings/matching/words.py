"""Normalises phrases: `ParkingSpace_Status`, "parking-space status" and "Parking space  status" become the same.

Many attributes come from programs, so `spelled` also splits words where programs join them.
"""

import re
import unicodedata
from functools import lru_cache

_SEAMS = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")  # parkingSpace, spaceID
_APART = re.compile(r"[\s_\-‐-―/:;|]+")


@lru_cache(maxsize=65_536)
def spelled(text: str) -> str:
    """The normalised spelling of a phrase: words in lower case, one space between them."""
    parts = unicodedata.normalize("NFKC", text)
    return _APART.sub(" ", _SEAMS.sub(" ", parts)).strip().casefold()


def words(text: str) -> list[str]:
    return spelled(text).split()
