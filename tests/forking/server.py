"""Runs modules for others, in forks of a process that has imported them: a new Python takes ten times as long to begin.

    python server.py SOCKET tidings     until stdin ends: forks that are as `python -m tidings` is
    python server.py SOCKET pyspark     the same with the modules by which Spark runs Python

Whoever connects sends a request with the three streams of the new process, and gets its id and then its exit code.
The fork has the arguments, the folder and the environment of the request.
"""

import gc
import json
import logging
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

LONGEST = 1 << 20
USUAL = (
    "tidings.server.app", "tidings.server.optional_gates.opening", "tidings.client", "tidings.client.http",
    "tidings.client.sync", "tidings.security.authority", "tidings.server.security.certificates", "rich.console",
    "rich.table", "rich.live",
)  # fmt: skip
"""What most commands import. Nothing of it may begin a thread: a fork has only one."""
IN_SPARK = (
    "pandas", "pyarrow.parquet", "pyspark.daemon", "pyspark.worker",
    "pyspark.sql.pandas.serializers", "pyspark.sql.streaming.stateful_processor_api_client",
    "pyspark.sql.worker.commit_data_source_write", "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.lookup_data_sources", "pyspark.sql.worker.plan_data_source_read",
    "pyspark.sql.worker.python_streaming_sink_runner", "pyspark.sql.worker.write_into_data_source",
    "tidings.client.http", "tidings.spark.log_source.data_source", "tidings.spark.streaming.input.routed_source",
    "tidings.spark.streaming.output.sink", "tidings.spark.streaming.unit", "tidings.spark.streaming.unit_state",
)  # fmt: skip
"""What the processes of Spark that run Python import."""


class Request(NamedTuple):
    caller: socket.socket
    asked: dict[str, Any]
    streams: list[int]


def main(place: str, kind: str) -> int:
    """In a fork, what its module returns."""
    run = {"tidings": tidings, "pyspark": pyspark}[kind]()
    gc.collect()
    gc.freeze()
    request = serve(place)
    if request is None:
        return 0
    become(request)
    code = run(request.asked["arguments"])
    if threading.active_count() == 1:  # nobody is left to wait for, and to tidy up takes longer than most commands
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def tidings() -> Callable[[list[str]], int]:
    from tidings import cli

    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # as the command line does
    for name in USUAL:
        import_module(name)
    for name in cli.COMMANDS:
        cli.command(name)
    return cli.main


def pyspark() -> Callable[[list[str]], int]:
    for name in IN_SPARK:
        import_module(name)

    def run(arguments: list[str]) -> int:
        dash_m, module, *sys.argv[1:] = arguments
        assert dash_m == "-m"
        sys.modules.pop(module, None)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0

    return run


def serve(place: str) -> Request | None:
    """In a fork, what it is to do; else until stdin ends, and with it all forks."""
    callers: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those whom a terminal belongs to
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, selectors.DefaultSelector() as selector:
        listener.bind(place)
        listener.listen(100)
        for each in (listener, woken, sys.stdin):
            selector.register(each, selectors.EVENT_READ, each)
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                if key.data is sys.stdin:
                    for pid in callers:
                        os.kill(pid, signal.SIGKILL)
                    return None
                if key.data is woken:
                    woken.recv(1000)
                    bury(callers)
                    continue
                request = heard(listener)
                pid = os.fork()
                if not pid:
                    for caller in callers.values():
                        caller.close()
                    return request
                for stream in request.streams:
                    os.close(stream)
                callers[pid] = request.caller
                request.caller.send(str(pid).encode())


def heard(listener: socket.socket) -> Request:
    caller, _ = listener.accept()
    text, streams, _, _ = socket.recv_fds(caller, LONGEST, 3)
    return Request(caller, json.loads(text), streams)


def bury(callers: dict[int, socket.socket]) -> None:
    """Tell the exit codes of all that have ended, as `subprocess` has them."""
    while callers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with callers.pop(pid) as caller, suppress(OSError):  # nobody waits for it
            caller.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(request: Request) -> None:
    """The process that was asked for."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    request.caller.close()
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request.asked["folder"])
    os.environ.clear()
    os.environ.update(request.asked["environment"])
    sys.argv[:] = ["tidings", *request.asked["arguments"]]
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", buffering=1 if os.isatty(1) else -1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    gc.enable()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
