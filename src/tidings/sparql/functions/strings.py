"""Functions on strings (SPARQL 1.1, 17.4.3).

A string literal is simple (`xsd:string`) or has a language tag. Two arguments are compatible (17.4.3.1.2) if the
second is simple or has the language of the first. Results keep the tag of the first argument.
"""

import math
from decimal import Decimal
from urllib.parse import quote

from tidings.model.errors import TextTooLong
from tidings.model.terms import Term, escape, lang_literal, literal
from tidings.sparql.values import LangText, Number, Text, decode, encode_boolean, encode_integer

LONGEST = 1 << 22
"""Characters of the longest string that an expression may return. Strings in the data may be longer."""


def check_length(characters: int) -> None:
    """Raises TextTooLong if an expression may not return so many characters."""
    if characters > LONGEST:
        raise TextTooLong(LONGEST)


def string_text(term: Term) -> str | None:
    """The text of a string literal; None for any other term."""
    value = decode(term)
    return value.text if isinstance(value, Text | LangText) else None


def retext(term: Term, text: str) -> Term:
    """A string literal with another text and the language tag of `term`, spelt in the same way."""
    return f'"{escape(text)}{term[term.rindex(chr(34)) :]}'


def compatible_texts(left: Term, right: Term) -> tuple[str, str] | None:
    match decode(left), decode(right):
        case ((Text(a) | LangText(a, _)), Text(b)):
            return a, b
        case LangText(a, language), LangText(b, other) if language == other:
            return a, b
        case _:
            return None


def length(term: Term) -> Term | None:
    """`STRLEN`, in characters: a character beyond the basic plane is one."""
    text = string_text(term)
    return None if text is None else encode_integer(len(text))


def upper(term: Term) -> Term | None:
    text = string_text(term)
    return None if text is None else retext(term, text.upper())


def lower(term: Term) -> Term | None:
    text = string_text(term)
    return None if text is None else retext(term, text.lower())


def encode_for_uri(term: Term) -> Term | None:
    """Everything but the unreserved characters of RFC 3986, percent-encoded."""
    text = string_text(term)
    if text is None:
        return None
    check_length(len(text))
    return literal(quote(text, safe="", errors="replace"))


def contains(left: Term, right: Term) -> Term | None:
    texts = compatible_texts(left, right)
    return None if texts is None else encode_boolean(texts[1] in texts[0])


def starts_with(left: Term, right: Term) -> Term | None:
    texts = compatible_texts(left, right)
    return None if texts is None else encode_boolean(texts[0].startswith(texts[1]))


def ends_with(left: Term, right: Term) -> Term | None:
    texts = compatible_texts(left, right)
    return None if texts is None else encode_boolean(texts[0].endswith(texts[1]))


def before(left: Term, right: Term) -> Term | None:
    """`STRBEFORE`: keeps the tag if `right` occurs in `left`; otherwise a simple empty string."""
    texts = compatible_texts(left, right)
    if texts is None:
        return None
    head, found, _ = texts[0].partition(texts[1]) if texts[1] else ("", True, "")
    return retext(left, head) if found else literal("")


def after(left: Term, right: Term) -> Term | None:
    """`STRAFTER`: keeps the tag if `right` occurs in `left`; otherwise a simple empty string."""
    texts = compatible_texts(left, right)
    if texts is None:
        return None
    _, found, tail = texts[0].partition(texts[1]) if texts[1] else ("", True, texts[0])
    return retext(left, tail) if found else literal("")


def concatenate(*terms: Term) -> Term | None:
    """`CONCAT`: tagged if all arguments have the same language, else simple. Raises TextTooLong."""
    texts, languages = [], set()
    for term in terms:
        match decode(term):
            case Text(text):
                texts.append(text)
                languages.add("")
            case LangText(text, language):
                texts.append(text)
                languages.add(language)
            case _:
                return None
    check_length(sum(map(len, texts)))
    joined = "".join(texts)
    if len(languages) == 1 and "" not in languages:
        return lang_literal(joined, terms[0][terms[0].rindex("@") + 1 :])
    return literal(joined)


def substring(term: Term, start: Term, size: Term | None = None) -> Term | None:
    """`SUBSTR`: the characters at positions p (from 1) with round(start) <= p < round(start) + round(size)."""
    text, first = string_text(term), _position(start)
    count = 0 if size is None else _position(size)
    if text is None or first is None or count is None:
        return None
    end = math.inf if size is None and not math.isnan(first) else first + count
    if math.isnan(end):  # NaN was given, or -INF + INF
        return retext(term, "")
    begin = max(first, 1) - 1
    stop = min(end - 1, len(text))
    return retext(term, text[int(begin) : int(stop)] if begin < stop else "")


def _position(term: Term) -> float | None:
    """A number rounded half up as by `fn:round`; an int, or a float that is not finite."""
    value = decode(term)
    if type(value) is not Number:
        return None
    number = value.value
    if isinstance(number, float) and not math.isfinite(number):
        return number
    whole = math.floor(number)
    return whole + (Decimal(number) - whole >= Decimal("0.5"))
