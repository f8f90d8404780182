"""Simulates sensors of several kinds, each with its own format of payloads, some of them broken."""

import asyncio
import random
from collections.abc import Iterator
from typing import TypeAlias

import aiomqtt
from mqtt_client import mqtt_connected

_ANSWER_SECONDS = 1.0  # a client that waits for an answer does not notice that the broker has gone

Message: TypeAlias = tuple[str, bytes]


def readings(chance: random.Random) -> Iterator[Message]:
    """A round of messages: for the topics of the profile, for an unknown topic, and sometimes nonsense."""

    def near(mean: float, spread: float) -> float:
        return round(chance.gauss(mean, spread), 1)

    yield "pepoli/6lowpan/network/NODO1/Temperature", f"{near(22, 1)}".encode()
    yield "pepoli/6lowpan/network/NODO1/Humidity", f" {near(45, 4)} %".encode()
    soil = f"node=12;bat=3.61;moisture={near(31, 3)};temp={str(near(14, 1)).replace('.', ',')}"
    yield "ground/dash7/node/12", soil.encode()
    lora = f'{{"port": 2, "rssi": -97, "payload": {{"temperature": {near(9, 2)}, "light": 311}}}}'
    yield "lora/up/0004A30B001C0530", lora.encode()
    cores = f"Adapter: ISA\nCore 0:       {near(48, 5):+}°C  (high = +80.0°C)\nCore 1:       +47.0°C"
    yield "servers/mml/cpu/0", cores.encode()
    yield "servers/mml/disk/sda", f"/dev/sda: WDC WD10EZEX-08WN4A0: {chance.randint(34, 40)}°C".encode()
    yield "office/coffee", b"ready"
    nonsense = (b"drive is sleeping", b"", b"\xff\xfe\x00", b"NaN", b"[1, 2")
    if chance.random() < 0.5:
        yield "servers/mml/disk/sda", chance.choice(nonsense)


async def simulate(host: str, port: int, *, pause: float = 0.5, seed: int | None = None) -> None:
    """Publish rounds of readings until cancelled, even if the MQTT broker restarts."""
    chance = random.Random(seed)
    while True:
        try:
            async with mqtt_connected(host, port) as client:
                while True:
                    for topic, payload in readings(chance):
                        await client.publish(topic, payload, qos=1, timeout=_ANSWER_SECONDS)
                    await asyncio.sleep(pause)
        except aiomqtt.MqttError:
            await asyncio.sleep(pause)
