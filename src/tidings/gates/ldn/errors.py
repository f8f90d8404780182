"""What can be wrong with a notification; branches of the tree in `model/errors.py`.

BadRequest
├── ContextNotAllowed    context_not_allowed    400   the context is unknown, and the settings forbid to fetch it
├── ConstraintNotMet     constraint_not_met     400   the notification does not meet the constraint of this inbox
├── NotANotification     not_a_notification     400   the document has no triple, or has named graphs
└── NoInbox              no_inbox               400   the resource that is to be notified has no inbox
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
