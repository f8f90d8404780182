"""Sarah looks for a parking spot: her car and the garages use different words, and a broker matches them.

python examples/parking/run.py                                  with a broker of its own
python examples/parking/run.py --http http://localhost:8000     with a broker that is running, with the extra matching
"""

import asyncio
import json
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tidings.client import connect
from tidings.client.discovery import subscribe_address
from tidings.client.subscription import Change
from tidings.model.errors import TidingsError

SERVE = (sys.executable, "-m", "tidings", "serve", "--memory", "--http-port", "0", "--ws-port", "0")
CITY = "http://city.example/"
EVENTS: tuple[dict[str, Any], ...] = (
    {"@id": CITY + "quay", "type": "parking space occupied", "parking vacancy": 0, "town": "Galway"},
    {"@id": CITY + "quay", "type": "car park", "parking vacancy": 3, "town": "Galway"},
    {"@id": CITY + "lee", "type": "car park", "parking vacancy": 40, "town": "Cork"},
    {"@id": CITY + "ring-road", "type": "traffic jam", "vehicles": 210, "town": "Galway"},
)
"""The events of sensors in garages and streets, each with its own words."""
GARAGE = """
PREFIX : <http://city.example/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
INSERT DATA {
    :freieStellplaetze rdfs:label "parking vacancy"@en .
    :spanish-arch a :Garage ; :town "Galway" ; :freieStellplaetze 12 .
}
"""
"""A garage in the graph; only the label of its property is in English."""
SARAH = "MATCHING ?garage {empty parking slot~ > 0, city~ = galway~}"
PATIENCE = 60.0


def arguments() -> Namespace:
    parser = ArgumentParser(description="Sarah looks for a parking spot.")
    parser.add_argument("--http", metavar="URL", help="a broker that runs already; without it, one is started")
    return parser.parse_args()


@contextmanager
def broker_of_our_own() -> Iterator[str]:
    """Start a broker, which is stopped at the end. Yields its HTTP address."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True, process_group=0) as process:
        assert process.stdout is not None
        try:
            address = re.search(r"http://[^/\s]+", process.stdout.readline())
            if address is None:
                sys.exit("parking: the broker did not start")
            yield address[0]
        finally:
            process.terminate()


async def drive(http: str) -> None:
    """Subscribe, publish the events of the garages, and print the notifications of free spots."""
    ws = await subscribe_address(http, seconds=10)
    async with connect(ws) as connection, httpx.AsyncClient(timeout=PATIENCE) as garages:
        heard = aiter(await connection.subscribe(SARAH))
        await anext(heard)
        print(f"Sarah's car asks for {SARAH.partition('{')[2].rstrip('}')}")
        for event in EVENTS:
            answer = await garages.post(f"{http}/events", json=event)
            matched = answer.raise_for_status().json()["response"]["matched"]
            shown = ", ".join(f"{name} = {value}" for name, value in event.items() if name != "@id")
            print(f"  {'Sarah hears of' if matched else 'not for Sarah:'} {shown}")
            if matched:
                tell(await asyncio.wait_for(anext(heard), PATIENCE))
        print("  and a garage of the graph counts its free spots, with a label in English")
        await garages.post(f"{http}/update", content=GARAGE, headers={"content-type": "application/sparql-update"})
        tell(await asyncio.wait_for(anext(heard), PATIENCE))


def tell(change: Change) -> None:
    for row in change.added_values():
        (mapping,) = json.loads(row["mapping"])
        met = ", ".join(each["tuple"] for each in mapping["met"])
        print(f"    -> {row['garage']}: {met} (degree {float(row['degree']):.2f})")


def main() -> None:
    given = arguments()
    try:
        if given.http:
            asyncio.run(drive(given.http.rstrip("/")))
        else:
            with broker_of_our_own() as http:
                asyncio.run(drive(http))
    except TidingsError as error:
        sys.exit(f"parking: {error}")


if __name__ == "__main__":
    main()
