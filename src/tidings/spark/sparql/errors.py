"""Errors of compiling queries for Spark; a branch of the tree in `model/errors.py`.

TidingsError
└── BadRequest
    └── NotCompilable    not_compilable    400
"""

from tidings.model.errors import BadRequest
from tidings.sparql.parser.tokens import locate, replace_codepoint_escapes, tokenize


class NotCompilable(BadRequest):
    """A query that the broker can answer, but that has a construct which cannot be compiled to a Spark job.

    The message has the line of the construct, if a word of the text identifies it.
    """

    code = "not_compilable"

    def __init__(self, construct: str, word: str = "", text: str = "") -> None:
        line = _line_of(word, text) if word and text else None
        super().__init__(f"{construct}{f' (line {line})' if line else ''} cannot be asked over history")


def _line_of(word: str, text: str) -> int | None:
    plain = replace_codepoint_escapes(text)
    for number, token in enumerate(tokenize(plain)):
        if token.upper() == word:
            return locate(plain, number)[0]
    return None
