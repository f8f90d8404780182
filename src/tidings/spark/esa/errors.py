"""Errors of building an ESA index; branches of the tree in `model/errors.py`.

TidingsError
├── DumpUnreadable       dump_unreadable       400   no dump of a MediaWiki, or one that is packed in another way
├── DumpDamaged          dump_damaged          500   a dump that ends too early, or is not what it was
├── BuildForeign         build_foreign         409   a folder with the beginning of another index
└── NothingToIndex       nothing_to_index      400   no page is long enough, no term frequent enough
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
