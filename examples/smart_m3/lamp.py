"""Two knowledge processors and a lamp: one switches it, the other gets notifications.

python examples/smart_m3/lamp.py [PORT]
"""

import asyncio
import sys

from ssap import KnowledgeProcessor, Literal

LAMP = "http://example.org/lamp"
STATE = "http://example.org/state"


async def main(port: int) -> None:
    switch = KnowledgeProcessor("switch", "127.0.0.1", port)
    display = KnowledgeProcessor("display", "127.0.0.1", port)
    await switch.join()
    await display.join()
    await switch.update(insert=[(LAMP, STATE, Literal("off"))], remove=[(LAMP, STATE, None)])
    async with display.subscribed([(LAMP, STATE, None)]) as subscription:
        print("at first:", *(o for _, _, o in subscription.first.triples("results")))
        await switch.update(insert=[(LAMP, STATE, Literal("on"))], remove=[(LAMP, STATE, None)])
        told = await subscription.next()
        print("then:", *(o for _, _, o in told.triples("new_results")))
        print("no longer:", *(o for _, _, o in told.triples("obsolete_results")))
        await display.unsubscribe(subscription)
    await switch.remove([(LAMP, STATE, None)])
    await switch.leave()
    await display.leave()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10010))
