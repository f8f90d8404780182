"""The status codes of Smart-M3 for errors; branches of the tree in `model/errors.py`.

BadRequest
├── MessageSyntaxError      message_syntax      400   the message is neither SSAP nor JSSAP
├── MessageIncomplete       message_incomplete  400   the message lacks a parameter that the request needs
└── MessageTooLarge         message_too_large   413   bytes
TidingsError
└── QueryTypeUnknown        query_type_unknown  501   the query is in WQL or another language
"""

from typing import Any

from tidings.model.errors import BadRequest, EvaluationError, LimitExceeded, NotAllowed, NotFound, TidingsError

SUCCESS = "m3:Success"
_UNAUTHORISED = 401


class MessageSyntaxError(BadRequest):
    code = "message_syntax"


class MessageIncomplete(BadRequest):
    code = "message_incomplete"


class MessageTooLarge(BadRequest):
    status = 413
    code = "message_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"the message is larger than the limit of {most:,} bytes")
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"max_body": self.most}


class QueryTypeUnknown(TidingsError):
    status = 501
    code = "query_type_unknown"


def status_of(error: TidingsError) -> str:
    """The status of a confirmation that is none."""
    match error:
        case MessageSyntaxError() | MessageTooLarge():
            return "m3:KP.Error.Message.Syntax"
        case MessageIncomplete():
            return "m3:KP.Error.Message.Incomplete"
        case NotAllowed():
            return "m3:SIB.Error.AccessDenied"
        case LimitExceeded():
            return "m3:SIB.Failure.OutOfResources"
        case QueryTypeUnknown():
            return "m3:SIB.Failure.NotImplemented"
        case BadRequest() | EvaluationError() | NotFound():
            return "m3:KP.Error.Request"
        case _:
            return "m3:SIB.Error.AccessDenied" if error.status == _UNAUTHORISED else "m3:SIB.Error"
