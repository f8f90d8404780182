"""Builds the MQTT gate by its settings."""

import ssl
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tidings.extras import needing
from tidings.gates.asking import Resident
from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.model.errors import BadRequest
from tidings.server.config import BadSetting, Settings

if TYPE_CHECKING:
    from tidings.gates.mqtt.link import Address

_PORTS = {"mqtt": 1883, "mqtts": 8883}


def open_mqtt(premises: Premises, settings: Settings) -> Gate | None:
    """Raises BadSetting, BadProfile, ExtraMissing."""
    if settings.mqtt is None:
        return None
    with needing("the MQTT gate needs paho-mqtt", "gates"):
        from tidings.gates.mqtt.gate import MqttGate, MqttSettings
    from tidings.gates.mqtt.mapping import Mapped
    from tidings.gates.mqtt.profile import read_mapping
    from tidings.gates.mqtt.topics import check_name

    prefix = settings.mqtt_prefix.strip("/")
    try:
        check_name(prefix)
    except BadRequest as error:
        raise BadSetting(f"mqtt_prefix: {error}") from error
    mapped = Mapped()
    if settings.mqtt_profile is not None:
        mapped = read_mapping(Path(settings.mqtt_profile), premises.broker.prepare, premises.base, prefix)
    shown = None if settings.mqtt_identity is None else Resident(settings.mqtt_identity)
    return MqttGate(premises, MqttSettings(_address(settings), prefix, shown, settings.mqtt_lease), mapped)


def _address(settings: Settings) -> "Address":
    from tidings.gates.mqtt.link import Address

    url = settings.mqtt or ""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError) as error:
        raise BadSetting(f"mqtt: {url!r} is not an address like mqtt://HOST:PORT or mqtts://HOST:PORT") from error
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.username or parts.password:
        raise BadSetting(f"mqtt: {parts.scheme}://HOST:PORT has nothing else; mqtt_username says who the gate is")
    return Address(
        parts.hostname,
        port,
        _tls(settings) if parts.scheme == "mqtts" else None,
        settings.mqtt_version,
        settings.mqtt_client,
        settings.mqtt_username,
        _password(settings),
        settings.mqtt_session,
    )


def _tls(settings: Settings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.mqtt_ca)
    except OSError as error:
        raise BadSetting(f"mqtt_ca: {settings.mqtt_ca} cannot be read: {error.strerror}") from error


def _password(settings: Settings) -> str | None:
    if settings.mqtt_password_file is None:
        return None
    try:
        return Path(settings.mqtt_password_file).read_text().rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"mqtt_password_file: {settings.mqtt_password_file} cannot be read: {error}") from error
