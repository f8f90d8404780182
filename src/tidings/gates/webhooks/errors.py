"""What can go wrong with web hooks; branches of the tree in `model/errors.py`.

NotFound       UnknownWebhook     unknown_webhook     404   there is no such web hook, or the client may not see it
LimitExceeded  TooManyWebhooks    too_many_webhooks   429   the limit of webhook_most
"""

from tidings.model.errors import LimitExceeded, NotFound


class UnknownWebhook(NotFound):
    code = "unknown_webhook"


class TooManyWebhooks(LimitExceeded):
    status = 429
    code = "too_many_webhooks"
