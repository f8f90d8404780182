"""`tidings match`: matches events in files approximately with a subscription, by the meaning of their words."""

import shutil
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tidings.cli.input.arguments import Parser, UsageError, fraction
from tidings.cli.input.events import Read, read_events
from tidings.cli.matching import bulk
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.matching.language.documents import event_document, subscription_of
from tidings.matching.language.notation import read_subscription, write_event
from tidings.matching.language.values import Event, Scoring, Subscription

if TYPE_CHECKING:
    from tidings.matching.matcher.matcher import Mapping, Matcher

DESCRIPTION = """\
Find the events that match an approximate subscription. `~` after an attribute or a value asks for what means about
the same. Events come one on each line, as JSON or in the same notation.

With --events and --subscriptions, Spark matches many of both on all cores: pip install 'tidings[spark]'."""
EXAMPLES = """\
examples:
  tidings match '{free parking~ > 0, city = galway~}' parking.jsonl
  tidings match '{event~ = parking spot vacant~}' parking.jsonl --top 2 --explain
  echo '{"parking vacancy": 3}' | tidings match '{empty parking slot~ > 0}' --explain
"""


def parser() -> Parser:
    result = Parser("tidings match", DESCRIPTION, EXAMPLES)
    result.add_argument(
        "subscription", metavar="SUBSCRIPTION", nargs="?", help="in the notation, or JSON; @FILE reads it from a file"
    )
    result.add_argument("files", metavar="FILE", nargs="*", help="events; `-` is stdin")
    group = result.add_argument_group("matching")
    group.add_argument("--top", metavar="K", type=_count, help="only the K best events, the best first")
    group.add_argument("--mappings", metavar="K", type=_count, help="tell the K best mappings of each event")
    group.add_argument("--threshold", metavar="NUMBER", type=fraction, help="least match degree, 0 to 1")
    group.add_argument("--floor", metavar="NUMBER", type=fraction, help="least score of each predicate, 0 to 1")
    group.add_argument("--scoring", metavar="NAME", choices=list(Scoring), help="product or joint")
    group.add_argument(
        "--attribute-exponent", metavar="NUMBER", type=fraction, help="below 1, differing attributes matter less"
    )
    group = result.add_argument_group("words")
    group.add_argument(
        "--backend", metavar="NAME", choices=list(Backend), default=Backend.STATIC, help=f"one of {', '.join(Backend)}"
    )
    group.add_argument("--index", metavar="DIR", type=Path, help="index of the backend esa")
    group.add_argument("--wordnet", metavar="DIR", type=Path, help="folder of WordNet's database files")
    group.add_argument("--moby", metavar="FILE", type=Path, help="words.txt of the Moby Thesaurus")
    group = result.add_argument_group("output")
    group.add_argument("--explain", action="store_true", help="say how each predicate was met, and why not otherwise")
    group.add_argument("--all", action="store_true", help="every event, also those that do not match")
    group.add_argument("--format", metavar="NAME", choices=["text", "json"], default="text", help="text or json")
    bulk.arguments(result)
    return result


def run(arguments: Namespace) -> int:
    if bulk.is_bulk(arguments):
        return bulk.run_bulk(arguments)
    if arguments.subscription is None:
        raise UsageError("say what to look for: tidings match '{type~ = parking~}' FILE")
    subscription = _subscription(arguments)
    knowledge = load_knowledge(
        Backend(arguments.backend), index=arguments.index, wordnet=arguments.wordnet, moby=arguments.moby
    )
    bulk.tell_lacking(arguments)
    from tidings.matching.matcher.matcher import Matcher

    matcher = Matcher(subscription, knowledge)
    found = (_Found(read, matcher) for read in read_events(arguments.files))
    told: Iterator[_Found] | list[_Found] = (each for each in found if each.matches or arguments.all)
    if arguments.top is not None:
        told = nlargest(arguments.top, told, key=lambda each: each.degree)
    any_matches = False
    for each in told:
        any_matches |= each.matches
        sys.stdout.write(each.json(arguments) if arguments.format == "json" else each.text(arguments))
    return 0 if any_matches else 1


class _Found:
    """An event, and its match with the subscription, if any."""

    def __init__(self, read: Read, matcher: "Matcher") -> None:
        self.read = read
        self._matcher = matcher
        self.mappings: list[Mapping] = matcher.mappings(read.event, matcher.subscription.parameters.mappings)
        self.degree = self.mappings[0].degree if self.mappings else 0.0
        self.matches = bool(self.mappings) and self.degree >= matcher.threshold

    def json(self, arguments: Namespace) -> str:
        document: dict[str, Any] = {
            "place": self.read.place,
            "event": event_document(self.read.event),
            "matches": self.matches,
            "degree": round(self.degree, 4),
            "mappings": [self._mapping(each) for each in self.mappings],
        }
        if arguments.explain:
            document["explanation"] = self._explanation().document()
        return msgspec.json.encode(document).decode() + "\n"

    def _mapping(self, mapping: "Mapping") -> dict[str, Any]:
        from tidings.matching.matcher.telling import mapping_document

        return mapping_document(self._matcher.subscription, self.read.event, mapping)

    def _tuple(self, place: int) -> str:
        return write_event(Event((self.read.event.tuples[place],)))[1:-1]

    def text(self, arguments: Namespace) -> str:
        width = max(40, shutil.get_terminal_size().columns - 8) if sys.stdout.isatty() else 10_000
        shown = write_event(self.read.event)
        shown = shown if len(shown) <= width else shown[: width - 1] + "…"
        lines = [f"{self.degree:.3f}  {shown}"]
        for mapping in self.mappings if self._matcher.subscription.parameters.mappings > 1 else ():
            met = ", ".join(self._tuple(place) for place in mapping.tuples)
            lines.append(f"       {mapping.degree:.3f}  {met}")
        if arguments.explain:
            lines += self._told()
        return "\n".join(lines) + "\n"

    def _told(self) -> Iterator[str]:
        explained = self._explanation().document()
        for met in explained["predicates"]:
            taken = f"{met['tuple']}  {_numbers(met)}" if "tuple" in met else "nothing"
            yield f"       {met['predicate']}  <-  {taken}"
            for other in met["others"]:
                yield f"           not {other['tuple']}: {other['reason']}  {_numbers(other)}"
        yield f"       {explained['reason']}"

    def _explanation(self) -> Any:
        from tidings.matching.matcher.explanation import explain

        return explain(self._matcher, self.read.event)


def _numbers(met: dict[str, Any]) -> str:
    parts = ", ".join(f"{name} {met[name]:.2f}" for name in ("attribute", "value", "joint") if name in met)
    return f"{met['score']:.2f} ({parts})"


def _subscription(arguments: Namespace) -> Subscription:
    text: str = arguments.subscription
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{text[1:]} cannot be read: {error}") from error
    read = _read(text)
    given = {
        "threshold": arguments.threshold,
        "floor": arguments.floor,
        "scoring": arguments.scoring and Scoring(arguments.scoring),
        "attribute_exponent": arguments.attribute_exponent,
        "mappings": arguments.mappings,
    }
    parameters = replace(read.parameters, **{name: value for name, value in given.items() if value is not None})
    return replace(read, parameters=parameters)


def _read(text: str) -> Subscription:
    """Read a text as JSON if it is JSON, otherwise in the notation, whose parser reports errors."""
    try:
        document = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return read_subscription(text)
    return subscription_of(document)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)
