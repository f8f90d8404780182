"""A terminal that shows lines while the user types; the typed text stays at the bottom, after the prompt."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

try:
    import readline
    import termios
except ImportError:  # not a POSIX system: the terminal works, with less comfort
    readline = termios = None  # type: ignore[assignment]


def harmless(text: str) -> str:
    """A text without characters that control a terminal: escapes, line breaks, changes of direction."""
    return "".join(character if character.isprintable() else "·" for character in text)


class Terminal:
    """Reads lines in a thread, because `input` blocks. Without a terminal, it reads and prints plain lines."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt if sys.stdin.isatty() and sys.stdout.isatty() else ""
        self._typing = False
        self._settings = termios.tcgetattr(sys.stdin) if self._prompt and termios is not None else None

    def show(self, line: str) -> None:
        if self._typing and self._prompt:
            typed = readline.get_line_buffer() if readline is not None else ""
            print(f"\r\x1b[K{line}\n{self._prompt}{typed}", end="", flush=True)
        else:
            print(line, flush=True)

    async def lines(self, unless: "asyncio.Future[None]") -> AsyncIterator[str]:
        """The typed lines, until the end of the input, or until the future `unless` is done."""
        loop = asyncio.get_running_loop()
        typed: asyncio.Queue[str | None] = asyncio.Queue(1)
        wanted = threading.Semaphore(0)  # the next prompt comes when the last line has been dealt with

        def hand_over(line: str | None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(typed.put_nowait, line)

        def read() -> None:
            while wanted.acquire():
                try:
                    self._typing = True
                    line = input(self._prompt)
                except (EOFError, OSError, ValueError):
                    return hand_over(None)
                finally:
                    self._typing = False
                hand_over(line)

        threading.Thread(target=read, daemon=True).start()
        while True:
            wanted.release()
            next_line = asyncio.ensure_future(typed.get())
            either: list[asyncio.Future[Any]] = [next_line, unless]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not next_line.done():
                next_line.cancel()
                return
            line = next_line.result()
            if line is None:
                return
            yield line

    def close(self) -> None:
        """Restore the terminal, because the thread may still be reading from it, with a prompt."""
        if self._typing and self._prompt:
            print("\r\x1b[K", end="", flush=True)
        if self._settings is not None and termios is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._settings)
