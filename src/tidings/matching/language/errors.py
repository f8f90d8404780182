"""The errors of subscriptions and events.

SyntaxFault
└── MatchingSyntaxError      matching_syntax_error      400   line, column, expected: in the notation
BadRequest
└── MatchingDocumentError    matching_document_error    400   path: the place in the JSON document, as a JSON pointer

A subscription or event that is too large is a RequestTooComplex.
"""

from typing import Any

from tidings.model.errors import BadRequest, SyntaxFault


class MatchingSyntaxError(SyntaxFault):
    code = "matching_syntax_error"


class MatchingDocumentError(BadRequest):
    code = "matching_document_error"

    def __init__(self, message: str, path: str) -> None:
        super().__init__(f"at {path or 'the top'}: {message}")
        self.path = path

    def data(self) -> dict[str, Any]:
        return {"path": self.path}
