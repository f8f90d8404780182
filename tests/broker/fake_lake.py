"""A process that speaks as `tidings history answer` does, without Spark. The text of a query says how it behaves."""

import json
import sys
import time


def say(**said: object) -> None:
    print(json.dumps(said), flush=True)


def rows(question: dict[str, object]) -> None:
    """The question itself, so that whoever asks sees what was asked."""
    say(said="columns", names=["question"])
    say(said="rows", rows=[[json.dumps(json.dumps(question))]])
    say(said="done")


def commits(question: dict[str, object]) -> None:
    say(said="columns", names=["seq", "time", "op", "s", "p", "o", "g", "by"])
    for seq in range(int(str(question["after"])) + 1, int(str(question["last"])) + 1):
        say(said="rows", rows=[[seq, seq * 1000, "add", "<urn:s>", "<urn:p>", f'"{seq}"', "", "somebody"]])
    say(said="done")


def answer(question: dict[str, object]) -> None:
    text = str(question.get("text", ""))
    if "urn:die" in text:
        print("the lake is dry", file=sys.stderr, flush=True)
        sys.exit(3)
    if "urn:nonsense" in text:
        print("nonsense", flush=True)
    elif "urn:slow" in text:
        time.sleep(3600)
    elif "urn:large" in text:
        for _ in range(1000):
            say(said="rows", rows=[["x" * 1000]])
    elif "urn:refused" in text:
        say(said="refused", error={"error": "lake_damaged", "status_code": 500, "error_description": "a hole", "n": 1})
    elif question["ask"] == "commits":
        commits(question)
    elif text.startswith("ASK"):
        say(said="truth", value=True)
        say(said="done")
    else:
        rows(question)


if __name__ == "__main__":
    for line in sys.stdin:
        say(said="ready")
        answer(json.loads(line))
