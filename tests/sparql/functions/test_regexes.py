"""`REGEX` and `REPLACE`, with the regular expressions of XPath."""

import pytest

from tidings.model.terms import FALSE, TRUE, XSD, literal
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
INVALID += r" \ [a [z-a] [a-\d] [a-[b]c] [a[b]] a{99999999999999999999} " + "(" * 5000


@pytest.mark.parametrize("pattern", INVALID.split(), ids=lambda pattern: pattern[:10])
def test_a_pattern_that_is_not_one_is_an_error(pattern: str) -> None:
    assert matches("a", pattern) is None


def test_flags_and_arguments_are_checked() -> None:
    assert matches("a", "a", "z") is None
    regex = FUNCTIONS["REGEX"].call
    assert regex('"abc"@en', '"b"') == TRUE
    assert regex('"abc"', '"b"@en') is None
    assert regex("<a:b>", '"b"') is None
    assert regex(literal("1", f"{XSD}integer"), '"1"') is None


def test_a_pattern_without_end_is_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexes, "TIME_LIMIT", 0.05)
    endless, text = "(a|aa)+$", "a" * 100 + "b"
    assert matches(text, endless) is None
    assert replace(text, endless, "c") is None


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
