"""Everything that can go wrong, as one tree; each class has an HTTP status and a stable code.

TidingsError                       internal_error         500
├── BadRequest                     bad_request            400
│   ├── SparqlSyntaxError          sparql_syntax_error    400   line, column, expected
│   ├── UnsupportedFormat          unsupported_format     415   a media type or file ending that Tidings cannot read
│   ├── NotAcceptable              not_acceptable         406   the client accepts none of the formats
│   ├── RdfSyntaxError             rdf_syntax_error       400   line, column of the document
│   └── ResultsSyntaxError         results_syntax_error   400   a malformed result document
├── EvaluationError                evaluation_failed      400   a well-formed request that cannot be executed
│   ├── GraphExists                graph_exists           409   CREATE of a graph that exists
│   ├── GraphMissing               graph_missing          404   COPY, MOVE, ADD from a graph that does not exist
│   ├── LoadFailed                 load_failed            502   LOAD failed
│   └── ServiceFailed              service_failed         502   the endpoint of a SERVICE failed
├── NotAllowed                     not_allowed            403   switched off: LOAD, SERVICE
│   ├── GraphNotReadable           graph_not_readable     403   the sender may not read a graph that the request names
│   ├── GraphNotWritable           graph_not_writable     403   graph: the sender may not write it
│   └── MayNotSubscribe            may_not_subscribe      403   the sender may not subscribe to any graph
├── NotFound                       not_found              404   no such subscription
├── EndpointRefused                endpoint_refused       502   the store of record refused an update
├── ContextTooLarge                context_too_large      507   quads: more than the limit concern one request
├── ExtraMissing                   extra_missing          501   extra: a part of Tidings that is not installed
└── LimitExceeded                  limit_exceeded         503
    ├── TimeLimitExceeded          time_limit_exceeded    503   seconds
    ├── RowLimitExceeded           row_limit_exceeded     503   rows
    ├── MemoryLimitExceeded        memory_limit_exceeded  503   bytes
    ├── TextTooLong                text_too_long          503   characters
    ├── AnswerTooLarge             answer_too_large       503   bytes
    ├── EndpointAway               endpoint_away          503   the store of record does not answer, or not correctly
    ├── EndpointDiffers            endpoint_differs       503   it holds other quads than the broker wrote
    └── RequestTooComplex          request_too_complex    413   measured, limit
"""

from typing import Any, ClassVar


class TidingsError(Exception):
    """An error with a stable code for programs and a text for people."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def data(self) -> dict[str, Any]:
        """The data of the error for programs, which should not have to parse the text."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """The error envelope of the SPARQL Event protocol, on HTTP and WebSocket; the data are members of it."""
        return {"error": self.code, "status_code": self.status, "error_description": str(self), **self.data()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without calling the constructor, whose arguments differ: errors come back from other processes."""
        return _remade, (type(self), self.args, self.__dict__)


def _remade(kind: type[TidingsError], args: tuple[Any, ...], state: dict[str, Any]) -> TidingsError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def internal_error() -> TidingsError:
    """The error that a client gets for a defect of Tidings. It has no details; those are in the log."""
    return TidingsError("internal error; the log of the broker has the details")


class BadRequest(TidingsError):
    status = 400
    code = "bad_request"


class SyntaxFault(BadRequest):
    """A text that cannot be parsed: the place of the fault, and what the parser expected there."""

    def __init__(self, message: str, *, line: int = 1, column: int = 1, expected: str = "", source: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.expected = expected
        self.source = source

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    def excerpt(self) -> str:
        """The line of the fault with a caret below the column; empty if the text is not known."""
        lines = self.source.splitlines()
        if not 1 <= self.line <= len(lines):
            return ""
        shown = lines[self.line - 1].expandtabs(1)
        return f"{shown}\n{' ' * (self.column - 1)}^"

    def data(self) -> dict[str, Any]:
        return {"line": self.line, "column": self.column, "expected": self.expected}


class SparqlSyntaxError(SyntaxFault):
    code = "sparql_syntax_error"


class RdfSyntaxError(SyntaxFault):
    code = "rdf_syntax_error"


class ResultsSyntaxError(BadRequest):
    code = "results_syntax_error"


class UnsupportedFormat(BadRequest):
    status = 415
    code = "unsupported_format"


class NotAcceptable(BadRequest):
    status = 406
    code = "not_acceptable"


class EvaluationError(TidingsError):
    status = 400
    code = "evaluation_failed"


class GraphExists(EvaluationError):
    status = 409
    code = "graph_exists"


class GraphMissing(EvaluationError):
    status = 404
    code = "graph_missing"


class LoadFailed(EvaluationError):
    status = 502
    code = "load_failed"


class ServiceFailed(EvaluationError):
    status = 502
    code = "service_failed"


class NotAllowed(TidingsError):
    status = 403
    code = "not_allowed"


class GraphNotReadable(NotAllowed):
    """A request for certain graphs, some of which its sender may not read. The message is the same whether these graphs
    exist or not."""

    code = "graph_not_readable"


class GraphNotWritable(NotAllowed):
    """An update of a graph that its sender may not write. The graph is one that the request names; the message is the
    same whether the graph exists or not. None: the request is about all graphs."""

    code = "graph_not_writable"

    def __init__(self, graph: str | None) -> None:
        named = "the default graph" if graph == "" else f"the graph {graph}"
        super().__init__("you may not write every graph" if graph is None else f"you may not write {named}")
        self.graph = graph

    def data(self) -> dict[str, Any]:
        return {} if self.graph is None else {"graph": self.graph}


class MayNotSubscribe(NotAllowed):
    code = "may_not_subscribe"


class NotFound(TidingsError):
    status = 404
    code = "not_found"


class ExtraMissing(TidingsError):
    """A package that only one part of Tidings needs is not installed; the extra `extra` installs it."""

    status = 501
    code = "extra_missing"
    extra = ""  # an error that came back from a Spark worker has only its text

    def __init__(self, message: str, extra: str) -> None:
        super().__init__(message)
        self.extra = extra

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"extra": self.extra}


class EndpointRefused(TidingsError):
    """The store of record refused an update."""

    status = 502
    code = "endpoint_refused"


class ContextTooLarge(TidingsError):
    """A subscription or an update concerns more quads than the limit allows."""

    status = 507
    code = "context_too_large"

    def __init__(self, message: str, most: int) -> None:
        super().__init__(message)
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"quads": self.most}


class LimitExceeded(TidingsError):
    status = 503
    code = "limit_exceeded"


class TimeLimitExceeded(LimitExceeded):
    code = "time_limit_exceeded"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the evaluation took longer than its limit of {seconds:g} s")
        self.seconds = seconds

    def data(self) -> dict[str, Any]:
        return {"seconds": self.seconds}


class RowLimitExceeded(LimitExceeded):
    code = "row_limit_exceeded"

    def __init__(self, rows: int) -> None:
        super().__init__(f"the evaluation produced more than its limit of {rows:,} rows")
        self.rows = rows

    def data(self) -> dict[str, Any]:
        return {"rows": self.rows}


class MemoryLimitExceeded(LimitExceeded):
    code = "memory_limit_exceeded"

    def __init__(self, most: int) -> None:
        super().__init__(f"the evaluation needed more memory than its limit of {most:,} bytes")
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"bytes": self.most}


class TextTooLong(LimitExceeded):
    code = "text_too_long"

    def __init__(self, most: int) -> None:
        super().__init__(f"an expression made a text of more than {most:,} characters")
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"characters": self.most}


class AnswerTooLarge(LimitExceeded):
    code = "answer_too_large"

    def __init__(self, message: str, most: int) -> None:
        super().__init__(message)
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"bytes": self.most}


class RequestTooComplex(LimitExceeded):
    """`measured` is the size of the request in some respect, and `limit` the greatest allowed size."""

    status = 413
    code = "request_too_complex"

    def __init__(self, message: str, *, measured: float, limit: float) -> None:
        super().__init__(message)
        self.measured = measured
        self.limit = limit

    def data(self) -> dict[str, Any]:
        return {"measured": self.measured, "limit": self.limit}


class EndpointAway(LimitExceeded):
    """The store of record does not answer, or not in time, or not correctly."""

    code = "endpoint_away"


class EndpointDiffers(LimitExceeded):
    """The store of record holds other quads than the broker wrote; an operator has to decide which are right."""

    code = "endpoint_differs"
