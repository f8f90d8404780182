"""What an error says to people, and whom it advises to do what."""

from pytest import CaptureFixture

from tidings.cli.output.complaint import complain
from tidings.client.errors import Refused
from tidings.model.errors import EndpointRefused
from tidings.protocol.errors import UNNAMED, Refusal


def test_who_is_not_known_is_told_to_log_in_and_not_when_the_endpoint_does_not_know_the_broker(
    capsys: CaptureFixture[str],
) -> None:
    stranger = Refused(Refusal(UNNAMED, 401, "who are you?"))
    assert complain(stranger) == 1
    assert "tidings login" in capsys.readouterr().err
    refused = EndpointRefused("the endpoint asks who the broker is")
    refused.__cause__ = stranger
    assert complain(refused) == 1
    assert "tidings login" not in capsys.readouterr().err
