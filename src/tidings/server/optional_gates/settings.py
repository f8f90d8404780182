"""The settings of the gates that are off until one of these switches them on; `Settings` has them beside all others."""

from dataclasses import dataclass

from tidings.server.values import flag, port, setting, text


@dataclass(frozen=True, slots=True)
class GateSettings:
    """A group a gate. The first of each switches it on."""

    ldn: bool = setting(False, flag, "have an inbox for Linked Data Notifications at /inbox/")
    ldn_constraint: str | None = setting(None, text, "ASK query that every notification has to satisfy", "FILE")
    smart_m3_port: int | None = setting(
        None,
        port,
        "port for knowledge processors of Smart-M3 (SSAP, JSSAP), 10010 by custom; 0 takes any free one",
        "PORT",
    )
