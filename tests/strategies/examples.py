"""How many examples a property is tried with, as a share of what the profile in use tries: expensive ones try fewer."""

from hypothesis import HealthCheck, settings


def share(percent: int) -> settings:
    """The profile in use, with so many per cent of its examples."""
    profile = settings()
    return settings(
        max_examples=max(1, profile.max_examples * percent // 100),
        suppress_health_check=[*profile.suppress_health_check, HealthCheck.data_too_large],
    )
