"""How properties are tested: never against the clock, and with the same examples each time where the answer must stand.

At a desk, every run tries other examples; `--hypothesis-profile=long` tries many more of them.
"""

import os

from hypothesis import settings

settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("long", deadline=None, max_examples=5000)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "desk")
