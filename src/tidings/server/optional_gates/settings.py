"""The settings of the optional gates; `Settings` inherits them."""

from dataclasses import dataclass

from tidings.server.values import (
    flag,
    networks,
    one_of,
    port,
    positive,
    seconds,
    setting,
    some_seconds,
    text,
    texts,
    whole,
)


@dataclass(frozen=True, slots=True)
class GateSettings:
    """One group for each gate. The first setting of a group switches the gate on."""

    ldn: bool = setting(False, flag, "have an inbox for Linked Data Notifications at /inbox/")
    ldn_constraint: str | None = setting(None, text, "ASK query that every notification has to satisfy", "FILE")
    mcp: bool = setting(False, flag, "serve software agents at /mcp (Model Context Protocol)")
    mcp_read_only: bool = setting(False, flag, "let agents look and watch, and change nothing")
    smart_m3_port: int | None = setting(
        None,
        port,
        "port for knowledge processors of Smart-M3 (SSAP, JSSAP), 10010 by custom; 0 takes any free one",
        "PORT",
    )
    mqtt: str | None = setting(
        None,
        text,
        "address of an MQTT broker, mqtt://HOST:PORT or mqtts://HOST:PORT; the MQTT gate is a client of it",
        "URL",
    )
    mqtt_prefix: str = setting("tidings", text, "what the topics of the MQTT gate begin with", "TOPIC")
    mqtt_version: str = setting(
        "5", one_of("5", "3.1.1"), "version of MQTT that the gate speaks: 5 or 3.1.1", "VERSION"
    )
    mqtt_client: str = setting("tidings", text, "identifier of the gate at the MQTT broker", "NAME")
    mqtt_username: str | None = setting(None, text, "who the gate is to the MQTT broker", "NAME")
    mqtt_password_file: str | None = setting(None, text, "file with its password there", "FILE")
    mqtt_ca: str | None = setting(None, text, "authorities whose certificate the MQTT broker has (PEM)", "FILE")
    mqtt_identity: str | None = setting(None, text, "client that the gate is to this broker, with security on", "ID")
    mqtt_profile: str | None = setting(None, text, "application profile that maps topics and answers", "FILE")
    mqtt_lease: float = setting(
        86_400.0, seconds, "seconds that a subscription over MQTT lasts unless it is resumed; 0 is for ever", "SECONDS"
    )
    mqtt_session: int = setting(
        86_400, whole, "seconds that the MQTT broker keeps messages for the gate while it is away", "SECONDS"
    )

    webhook_hosts: tuple[str, ...] = setting(
        (), texts, "host that web hooks may call, NAME, NAME:PORT, *.NAME or *; there are web hooks then", "HOST"
    )
    webhook_networks: tuple[str, ...] = setting(
        (), networks, "network that such a host may be in although it is not public; again for more", "NETWORK"
    )
    webhook_timeout: float = setting(15.0, some_seconds, "seconds that a receiver may take to answer", "SECONDS")
    webhook_pause: float = setting(
        5.0,
        some_seconds,
        "seconds until a receiver that took nothing is tried again, then twice as many",
        "SECONDS",
    )
    webhook_patience: float = setting(
        259_200.0, seconds, "seconds after which a web hook is parked whose receiver takes nothing", "SECONDS"
    )
    webhook_most: int = setting(1_000, positive, "web hooks at a time", "N")

    coap_port: int | None = setting(
        None, port, "UDP port of the CoAP gate, as a rule 5683; 0 takes any free one, without it there is none", "PORT"
    )
    coap_host: str | None = setting(None, text, "address that the CoAP gate listens on, if not --host", "ADDRESS")
