"""`python -m tidings`."""

import sys

from tidings.cli import main

sys.exit(main())
