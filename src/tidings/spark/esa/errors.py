"""Errors of building an ESA index; branches of the tree in `model/errors.py`.

TidingsError
├── DumpUnreadable       dump_unreadable       400   not a MediaWiki dump, or with an unknown compression
├── DumpDamaged          dump_damaged          500   a dump ends too early, has errors, or has changed
├── BuildForeign         build_foreign         409   the folder contains another index, or parts of one
└── NothingToIndex       nothing_to_index      400   no page is long enough, or no term frequent enough
"""

from tidings.model.errors import TidingsError


class DumpUnreadable(TidingsError):
    status = 400
    code = "dump_unreadable"


class DumpDamaged(TidingsError):
    code = "dump_damaged"


class BuildForeign(TidingsError):
    status = 409
    code = "build_foreign"


class NothingToIndex(TidingsError):
    status = 400
    code = "nothing_to_index"
