"""How often tests try again that look for what happens once in a while: kills, long days, random moments.

By default often enough to find what is plainly wrong. `TIDINGS_ENDURANCE=10` has them try ten times as often, and
`scripts/test long` does so together with many more examples for every property.
"""

import os

ENDURANCE = float(os.environ.get("TIDINGS_ENDURANCE", "1"))


def often(times: int) -> int:
    return max(1, round(times * ENDURANCE))
