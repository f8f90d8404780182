"""`tidings history answer`: the process that a broker with `--lake` asks; questions come in on stdin, a line each."""

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
    """Until stdin ends. Spark is started with the first question."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the broker, which closes stdin in its time
    os.nice(_NICE)  # where the two share a core, the broker comes first
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # whatever else is printed here is no answer
        converse(arguments, sys.stdin.buffer, answers)


def converse(arguments: Namespace, questions: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer all questions, in their order. Whoever asks is told what keeps Spark from starting; the next who asks may
    have more luck."""
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
