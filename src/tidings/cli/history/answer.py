"""`tidings history answer`: the process that answers the questions of a broker with `--lake`, one on each line of
stdin."""

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO

from tidings.cli.history.lakes import session_for
from tidings.model.errors import TidingsError
from tidings.protocol.lake_lines import Ready, Refused, Said, read_question, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NICE = 10


def answer(arguments: Namespace) -> None:
    """Answer questions until stdin ends. The first question starts Spark."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the broker, which closes stdin when it ends
    os.nice(_NICE)  # where the two share a core, the broker has priority
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # other output, such as Spark's, goes to stderr, not among the answers
        converse(arguments, sys.stdin.buffer, answers)


def converse(arguments: Namespace, questions: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer all questions in order. If Spark does not start, the answer is the error, and the next question tries
    again."""
    from tidings.spark.lake.answering import answered, check

    spark: SparkSession | None = None
    with ExitStack() as stack:
        for question in map(read_question, questions):
            try:
                check(arguments.lake, question)
                spark = spark or stack.enter_context(session_for(arguments))
            except TidingsError as error:
                _say(answers, Refused(error.to_json()))
                continue
            _say(answers, Ready())
            for said in answered(spark, arguments.lake, question):
                _say(answers, said)


def _say(answers: BinaryIO, said: Said) -> None:
    answers.write(written(said))
    answers.flush()
