"""The gate at a real MQTT broker: mapped topics, retained answers, and what came while the gate was away."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gates.doors import built
from gates.mqtt.test_conversation import PROFILE
from gates.stories.mqtt import FIVE, HOST, THREE, Device, Server, mosquitto
from ports import free_ports
from tidings.broker.broker import Broker
from tidings.gates.gate import gate_status
from tidings.gates.mqtt.gate import MqttGate
from tidings.model.terms import Term
from tidings.server import gates
from tidings.server.config import Settings
from tidings.server.optional_gates.mqtt import open_mqtt
from waiting import PATIENCE, asynchronous, until

pytestmark = pytest.mark.server

INSERT = "INSERT DATA {{ <http://x/lamp/{}> <http://x/power> {} }}"


def opened(broker: Broker, settings: Settings) -> MqttGate:
    gate = open_mqtt(gates.premises(broker, settings, None, gates.client_quotas(settings)), settings)
    assert isinstance(gate, MqttGate)
    return gate


@asynccontextmanager
async def running(gate: MqttGate) -> AsyncIterator[None]:
    async with gate.running():
        await until(lambda: gate_status(gate)["connected"])
        yield


async def says(device: Device, **expected: bytes) -> None:
    """Until topics below levels/ have been told to be this, at last."""
    found: dict[str, bytes] = {}
    async with asyncio.timeout(PATIENCE):
        while found != expected:
            topic, payload = await device.heard.get()
            if topic.startswith("levels/"):
                found[topic.removeprefix("levels/")] = payload
            found = {name: value for name, value in found.items() if value}


def powers(broker: Broker) -> set[Term]:
    return {f"{s} {o}" for s, p, o, _ in broker.store if p == "<http://x/power>"}


@pytest.mark.parametrize("version", ["5", "3.1.1"])
@asynchronous
async def test_topics_become_quads_and_answers_become_topics(version: str, tmp_path: Path) -> None:
    (tmp_path / "city.jsap").write_text(json.dumps(PROFILE))
    async with Server(mosquitto, tmp_path / "mosquitto") as peer:
        flags: dict[str, Any] = {
            "mqtt": f"mqtt://{HOST}:{peer.port}", "mqtt_version": version, "mqtt_profile": str(tmp_path / "city.jsap"),
        }  # fmt: skip
        device = Device(peer.port, FIVE if version == "5" else THREE)
        try:
            await device.listen("levels/+", "tidings/status")
            async with built(**flags) as (broker, _, settings):
                device.client.publish("levels/gone", b"9", 1, retain=True)  # of a row that is no more
                await says(device, gone=b"9")
                gate = opened(broker, settings)
                async with running(gate):
                    device.client.publish("city/north/lamp/7/status", b'{"state": {"power": 60}}', 1)
                    await says(device, **{"7": b"60"})
                    await broker.update(INSERT.format(8, 5))
                    await says(device, **{"8": b"5"})
                    await broker.update("DELETE WHERE { <http://x/lamp/7> ?p ?o }")
                    await until(lambda: len(powers(broker)) == 1)
                late = Device(peer.port, THREE)
                await late.listen("tidings/status", "levels/+")
                heard = {topic: value async for topic, value in taken(late, 2)}
                assert heard.keys() == {"tidings/status", "levels/8"}
                assert b"offline" in heard["tidings/status"]
                assert heard["levels/8"] == b"5"
                # The session of the gate outlives it: what comes meanwhile is done when it is back.
                late.client.publish("city/north/lamp/9/status", b'{"state": {"power": 70}}', 1)
                await late.listen("nothing")  # by then, the MQTT broker has it
                async with running(gate):
                    await until(lambda: len(powers(broker)) == 2)
                    await until(lambda: gate_status(gate)["topics"] == 2)
                await late.close()
        finally:
            await device.close()


@asynchronous
async def test_the_log_says_once_why_the_mqtt_broker_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    (port,) = free_ports(1)
    async with built(mqtt=f"mqtt://{HOST}:{port}") as (broker, _, settings):
        gate = opened(broker, settings)
        async with gate.running():
            await until(lambda: bool(caplog.messages))
            gate.lost("the MQTT broker is not there")
    assert caplog.messages == ["the MQTT gate: the MQTT broker is not there"]


async def taken(device: Device, count: int) -> AsyncIterator[tuple[str, bytes]]:
    for _ in range(count):
        yield await asyncio.wait_for(device.heard.get(), PATIENCE)
