"""What can be wrong with a notification; branches of the tree in `model/errors.py`.

BadRequest
├── ContextNotAllowed    context_not_allowed    400   a context that is not known, and may not be fetched
├── ConstraintNotMet     constraint_not_met     400   the notification is not as this inbox wants it
├── NotANotification     not_a_notification     400   a document without a triple, or with graphs of its own
└── NoInbox              no_inbox               400   a resource that was named to be notified has none
"""

from tidings.model.errors import BadRequest


class ContextNotAllowed(BadRequest):
    code = "context_not_allowed"


class ConstraintNotMet(BadRequest):
    code = "constraint_not_met"


class NotANotification(BadRequest):
    code = "not_a_notification"


class NoInbox(BadRequest):
    code = "no_inbox"
