"""The file of security: read as a whole, and mistakes named with their place."""

import pytest

from security.making import ISSUER, SETTINGS
from tidings.security.clients.identities import Identities, Rule
from tidings.security.errors import BadPolicy, NotAuthorizedIdentity
from tidings.security.settings import read_settings

PROVIDER = '[[provider]]\nname = "{}"\nissuer = "{}"\naudience = "tidings"\n'


def test_a_file_is_read() -> None:
    settings = read_settings(
        SETTINGS
        + """
[[provider]]
name = "city"
issuer = "https://login.example.org/realms/city"
audience = "tidings"
scopes = ["read"]
role = [{claim = ["realm_access", "roles"], value = "admin", role = "operators"}]
[[grant]]
to = "role:operators"
query = ["*"]
administer = true
"""
    )
    assert settings.issuer == ISSUER
    assert [rule.identity for rule in settings.identity] == ["lamp-*", "operator"]
    assert settings.provider[0].role[0].claim == ("realm_access", "roles")
    assert settings.grant[0].administer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("issuer = x", r"security.toml: .*line 1"),
        ("", r"missing required field `issuer`"),
        ('issuer = "http://broker.example.org"', r"issuer: .* is no https address"),
        (f'issuer = "{ISSUER}"\ncolour = 1', r"unknown field `colour`"),
        (f'issuer = "{ISSUER}"\n[tokens]\nseconds = 0', r"tokens.seconds: a token counts"),
        (f'issuer = "{ISSUER}"\n[tokens]\nseconds = "1"', r"Expected `int`, got `str` - at `tokens.seconds`"),
        (f'issuer = "{ISSUER}"\n[tokens]\nleeway = 1e9', r"tokens.leeway"),
        (f'issuer = "{ISSUER}"\n[tokens]\nrotate = 3600', r"tokens.rotate"),
        (f'issuer = "{ISSUER}"\n[tokens]\nalgorithm = "HS256"', r"Invalid enum value 'HS256' - at `tokens.algorithm`"),
        (f'issuer = "{ISSUER}"\n[logins]\nby_client = {{burst = 0, per_second = 1}}', r"logins: burst"),
        (f'issuer = "{ISSUER}"\n[[grant]]\nto = "x"', r"grant\[0\]\.to: 'x' is none of"),
        (f'issuer = "{ISSUER}"\n' + PROVIDER.format("a", ISSUER), r"two have the same issuer"),
        (f'issuer = "{ISSUER}"\n' + PROVIDER.format("a", "https://a") + PROVIDER.format("a", "https://b"), "same name"),
        (f'issuer = "{ISSUER}"\n' + PROVIDER.format("a:b", "https://a"), "no colon"),
        (f'issuer = "{ISSUER}"\n' + PROVIDER.format("a", "http://a"), "no https address"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(BadPolicy, match=message):
        read_settings(text, "security.toml")


def test_the_first_rule_that_fits_an_identity_decides() -> None:
    rules = Identities(
        (Rule("lamp-1", ("first",)), Rule("lamp-*", ("lamps",)), Rule("lamp-2", ("too late",)), Rule("*"))
    )
    assert [rules.rule_for(name).roles for name in ("lamp-1", "lamp-2", "lamp-", "x")] == [
        ("first",), ("lamps",), ("lamps",), (),
    ]  # fmt: skip
    closed = Identities((Rule("a*b*c"),))
    assert closed.rule_for("abc")
    for name in ("ab", "abcd", "xabc", "a.c"):
        with pytest.raises(NotAuthorizedIdentity):
            closed.rule_for(name)
    with pytest.raises(NotAuthorizedIdentity):
        Identities(()).rule_for("anybody")
