"""Who may register: identities by name, by pattern, or all; and which roles and scopes come with that.

The first rule that fits decides. `*` in a rule stands for any characters, so that the rule `*` lets everybody register.
"""

import re

from msgspec import Struct

from tidings.security.errors import NotAuthorizedIdentity


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """Identities that may register."""

    identity: str
    roles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


class Identities:
    """The rules, in order."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._exact: dict[str, tuple[int, Rule]] = {}
        self._patterns: list[tuple[int, re.Pattern[str], Rule]] = []
        for number, rule in enumerate(rules):
            if "*" in rule.identity:
                pattern = ".*".join(map(re.escape, re.split(r"\*+", rule.identity)))
                self._patterns.append((number, re.compile(pattern), rule))
            else:
                self._exact.setdefault(rule.identity, (number, rule))

    def rule_for(self, identity: str) -> Rule:
        """What is said about an identity. Raises NotAuthorizedIdentity."""
        number, found = self._exact.get(identity, (None, None))
        for place, pattern, rule in self._patterns:
            if number is not None and place > number:
                break
            if pattern.fullmatch(identity):
                return rule
        if found is None:
            raise NotAuthorizedIdentity(f"the identity {identity} may not register")
        return found
