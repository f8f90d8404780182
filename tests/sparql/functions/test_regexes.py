"""`REGEX` and `REPLACE`, with the regular expressions of XPath."""

import time
from itertools import count

import pytest

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import RequestTooComplex, TextTooLong, TimeLimitExceeded
from tidings.model.results import Solutions
from tidings.model.terms import FALSE, TRUE, XSD, literal
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Context, Limits, Moment
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.functions import FUNCTIONS, regexes


def matches(text: str, pattern: str, flags: str = "") -> bool | None:
    verdict = FUNCTIONS["REGEX"].call(literal(text), literal(pattern), literal(flags))
    return {TRUE: True, FALSE: False, None: None}[verdict]


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "verdict"),
    [
        ("abcDEFghi", "DeFghI", "i", True),
        ("SS", "\u00df", "i", False),
        ("A", r"\p{Ll}", "i", False),
        ("abc\n", "c$", "", False),
        ("abc\n", "c$", "m", True),
        ("a\nb\nc", "^b$", "m", True),
        ("a\nb\nc", "^b$", "", False),
        ("a\n", "^$", "m", False),
        ("a\n\n", "^$", "m", True),
        ("a\rb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("a\nc", "a[^b]c", "", True),
        ("x", "[a-z-[aeiou]]", "", True),
        ("e", "[a-z-[aeiou]]", "", False),
        ("5", "[^a-z-[0-9]]", "", False),
        ("A", "[^a-z-[0-9]]", "", True),
        ("b", "[a-z-[aeiou-[e]]]", "", True),
        ("e", "^[a-z-[aeiou-[e]]]$", "", True),
        ("abc", " a b\tc ", "x", True),
        ("a c", "a[ ]c", "x", True),
        ("a?+*.{}()[]c", "a?+*.{}()[]c", "q", True),
        ("A.C", "a.c", "qi", True),
        ("abc", "a.c", "q", False),
        ("\u00e9", r"^\p{IsLatin-1Supplement}$", "", True),
        ("\u03b1", r"^\p{IsGreek}$", "", True),
        ("a", r"^\P{IsBasicLatin}$", "", False),
        ("a_b", r"^\w+$", "", False),
        ("x:y-1", r"^\i\c*$", "", True),
        ("1x", r"^\i\c*$", "", False),
        ("1", r"^[\I]$", "", True),
        ("\u0661", r"^\d$", "", True),
        ("\u00a0", r"\s", "", False),
        ("abab", r"^(ab)\1$", "", True),
        ("b", r"^(a)?\1b$", "", True),
        ("a0", r"^(a)?a?0$", "", True),
        ("aa1", r"^(a)\11$", "", True),
        ("aaa", "^a{2,3}?$", "", True),
        ("[", r"^[\[\]^-]$", "", True),
        ("&&--||~~", "^[&|~-]+$", "", True),
        ("ab", "^(?:a|b)+$", "", True),
        ("", "", "", True),
    ],
)
def test_patterns_mean_what_xpath_says(text: str, pattern: str, flags: str, verdict: bool) -> None:
    assert matches(text, pattern, flags) is verdict


INVALID = r"[ [] (a a) a++ *a (*a) a|* \y \b a{2,1} a{,2} a{ a] (?=a) (?i)a \p{Alphabetic} \p{IsNowhere} (a\1) \1 \0"
INVALID += r" \ [a [z-a] [a-\d] [a-[b]c] [a[b]] " + "(" * 5000


@pytest.mark.parametrize("pattern", INVALID.split(), ids=lambda pattern: pattern[:10])
def test_a_pattern_that_is_not_one_is_an_error(pattern: str) -> None:
    assert matches("a", pattern) is None


@pytest.mark.parametrize(
    "pattern",
    ["a{99999999999999999999}", "a{4001}", "((a{100}){10}){10}", "(?:ab){3000}", "a" * 4001, "(a{2000}|b{2001})"],
)
def test_a_pattern_that_would_take_long_to_compile_is_refused(pattern: str) -> None:
    with pytest.raises(RequestTooComplex, match="4,000 characters"):
        matches("a", pattern)


@pytest.mark.parametrize("pattern", ["a{4000}", "(a{60}){60}", "a{0,99999999}", "(a{0,1000}){0,1000}", "a" * 4000])
def test_a_pattern_within_the_limit_is_compiled(pattern: str) -> None:
    assert matches("b", pattern) is not None


def test_flags_and_arguments_are_checked() -> None:
    assert matches("a", "a", "z") is None
    regex = FUNCTIONS["REGEX"].call
    assert regex('"abc"@en', '"b"') == TRUE
    assert regex('"abc"', '"b"@en') is None
    assert regex("<a:b>", '"b"') is None
    assert regex(literal("1", f"{XSD}integer"), '"1"') is None


def test_a_pattern_without_end_is_an_error_not_a_hang() -> None:
    endless, text = literal("(a|aa)+$"), literal("a" * 100 + "b")
    assert regexes.matches(text, endless, seconds=0.05) is None
    assert regexes.replace(text, endless, literal("c"), seconds=0.05) is None


def replace(text: str, pattern: str, by: str, flags: str = "") -> str | None:
    result: str | None = FUNCTIONS["REPLACE"].call(literal(text), literal(pattern), literal(by), literal(flags))
    return result


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("abracadabra", "bra", "*"), '"a*cada*"'),
        (("abracadabra", "a.*?a", "*"), '"*c*bra"'),
        (("abracadabra", "a", ""), '"brcdbr"'),
        (("abracadabra", "a(.)", "a$1$1"), '"abbraccaddabbra"'),
        (("abcd", "(ab)|(a)", "[1=$1][2=$2]"), '"[1=ab][2=]cd"'),
        (("banana", "ana", "*"), '"b*na"'),
        (("aAbBaC", "a", "~/", "i"), '"~/~/bB~/C"'),
        (("abc", "(b)", "$12"), '"ab2c"'),
        (("abc", "b", "[$0]"), '"a[b]c"'),
        (("abc", "b", "[$1]"), '"a[]c"'),
        (("abc", "b", r"\$\\"), r'"a$\\c"'),
        (("a.b", ".", "$", "q"), '"a$b"'),
        (("abc", "b", "$"), None),
        (("abc", "b", "\\n"), None),
        (("abc", "b*", "x"), None),
        (("abc", "^", "x"), None),
        (("abc", "(", "x"), None),
        (("abc", "b", "x", "!"), None),
    ],
)
def test_replace_expands_groups(arguments: tuple[str, ...], expected: str | None) -> None:
    assert replace(*arguments) == expected


def test_replace_keeps_the_language_tag() -> None:
    assert FUNCTIONS["REPLACE"].call('"English"@en-GB', '"[^a-z0-9]"', '"-"') == '"-nglish"@en-GB'
    assert FUNCTIONS["REPLACE"].call('"a"', '"a"', '"b"@en') is None


def test_a_match_has_no_more_time_than_its_evaluation() -> None:
    ticks = count()
    context = Context(View(Store(), Dataset()), Moment(), Limits(seconds=3, clock=lambda: float(next(ticks))))
    assert context.left(5) == 2
    assert context.left(0.5) == 0.5
    with pytest.raises(TimeLimitExceeded):
        context.left(5)
    assert Context(View(Store(), Dataset()), Moment()).left(5) == 5


def test_a_query_whose_matches_take_long_ends_at_its_time_limit() -> None:
    evil = 'SELECT * { VALUES ?n { 1 2 3 4 5 6 7 8 9 } FILTER REGEX("' + "a" * 60 + 'b", "^(a|aa)+$") }'
    answer = Core().query(evil, now=0, limits=Limits(seconds=0.2, clock=time.monotonic))
    assert isinstance(answer, Solutions)
    with pytest.raises(TimeLimitExceeded):
        list(answer.rows)


def test_a_text_is_not_replaced_by_one_that_is_too_long() -> None:
    text = literal("a" * 3000)
    with pytest.raises(TextTooLong):
        FUNCTIONS["REPLACE"].call(text, literal("a"), text)
    with pytest.raises(TextTooLong):
        FUNCTIONS["CONCAT"].call(*[literal("a" * 1_000_000)] * 5)
    replaced = FUNCTIONS["REPLACE"].call(text, literal("a"), literal("bb"))
    assert replaced == literal("b" * 6000)
