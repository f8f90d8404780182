"""Everything that can go wrong, as one tree; each class has an HTTP status and a stable code.

TidingsError                       internal_error         500
├── BadRequest                     bad_request            400
│   ├── SparqlSyntaxError          sparql_syntax_error    400   line, column, expected
│   ├── UnsupportedFormat          unsupported_format     415   a media type or file ending nobody reads here
│   ├── NotAcceptable              not_acceptable         406   no format of ours is accepted by the client
│   ├── RdfSyntaxError             rdf_syntax_error       400   line, column of the document
│   └── ResultsSyntaxError         results_syntax_error   400   a malformed result document
├── EvaluationError                evaluation_failed      400   a well-formed request that cannot be carried out
│   ├── GraphExists                graph_exists           409   CREATE of a graph that is there
│   ├── GraphMissing               graph_missing          404   COPY, MOVE, ADD from a graph that is not there
│   ├── LoadFailed                 load_failed            502   LOAD could not be done
│   └── ServiceFailed              service_failed         502   SERVICE could not be asked
├── NotAllowed                     not_allowed            403   switched off: LOAD, SERVICE
│   ├── GraphNotReadable           graph_not_readable     403   graphs asked for by name that may not be read
│   ├── GraphNotWritable           graph_not_writable     403   graph: an update of what its sender may not write
│   └── MayNotSubscribe            may_not_subscribe      403   a subscription of one who may subscribe to no graph
├── NotFound                       not_found              404   no such subscription
├── EndpointRefused                endpoint_refused       502   the store of record will not have an update
├── ContextTooLarge                context_too_large      507   quads: more of them concern something than can be kept
├── ExtraMissing                   extra_missing          501   extra: a part of Tidings that is not installed
└── LimitExceeded                  limit_exceeded         503
    ├── TimeLimitExceeded          time_limit_exceeded    503   seconds
    ├── RowLimitExceeded           row_limit_exceeded     503   rows
    ├── MemoryLimitExceeded        memory_limit_exceeded  503   bytes
    ├── TextTooLong                text_too_long          503   characters
    ├── AnswerTooLarge             answer_too_large       503   bytes
    ├── EndpointAway               endpoint_away          503   the store of record does not answer, or not as it should
    ├── EndpointDiffers            endpoint_differs       503   it holds other quads than it said it would
    └── RequestTooComplex          request_too_complex    413   measured, limit
"""

from typing import Any, ClassVar


class TidingsError(Exception):
    """An error with a code that programs can rely on and a text for people."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def data(self) -> dict[str, Any]:
        """What programs may want to know: the text is for people, and nobody reads numbers out of it."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """The error envelope of the SPARQL Event protocol, the same on HTTP and WebSocket; data are its members."""
        return {"error": self.code, "status_code": self.status, "error_description": str(self), **self.data()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come back from other processes, whatever their constructors ask for."""
        return _remade, (type(self), self.args, self.__dict__)


def _remade(kind: type[TidingsError], args: tuple[Any, ...], state: dict[str, Any]) -> TidingsError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def internal_error() -> TidingsError:
    """What a client hears of a defect of ours: nothing of our insides, which are in the log."""
    return TidingsError("internal error; the log of the broker has the details")


class BadRequest(TidingsError):
    status = 400
    code = "bad_request"


class SyntaxFault(BadRequest):
    """A place in a text that cannot be read on from, and what would have been welcome there."""

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
        """The offending line with a caret below the offending column; empty if the text is not known."""
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
    """A request for just these graphs, which would be incomplete without some that may not be read. It is refused in
    the same words whether there are such graphs or not."""

    code = "graph_not_readable"


class GraphNotWritable(NotAllowed):
    """An update that would write where its sender may not. The graph is one that the request itself came up with; it is
    refused in the same words whether there is such a graph or not. None: the request is about all there are."""

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
    """What a part of Tidings needs, and only that part, is not installed; `extra` is what brings it."""

    status = 501
    code = "extra_missing"
    extra = ""  # one that came back from a worker of Spark has its text only

    def __init__(self, message: str, extra: str) -> None:
        super().__init__(message)
        self.extra = extra

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"extra": self.extra}


class EndpointRefused(TidingsError):
    """The store of record behind a broker answers, and will not have this."""

    status = 502
    code = "endpoint_refused"


class ContextTooLarge(TidingsError):
    """More quads concern a subscription, or an update, than are kept in one place."""

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
    """`measured` is what the request has of something, and `limit` what it may have."""

    status = 413
    code = "request_too_complex"

    def __init__(self, message: str, *, measured: float, limit: float) -> None:
        super().__init__(message)
        self.measured = measured
        self.limit = limit

    def data(self) -> dict[str, Any]:
        return {"measured": self.measured, "limit": self.limit}


class EndpointAway(LimitExceeded):
    """The store of record does not answer, or not in time, or not as it should: until it does, nothing is promised."""

    code = "endpoint_away"


class EndpointDiffers(LimitExceeded):
    """The store of record holds other quads than it said it would: somebody has to say which of the two is right."""

    code = "endpoint_differs"
