"""Runs a program as the unit would: with the system calls that it grants, and no memory both writable and executable.

    python sandbox.py CALL,CALL,... PROGRAM [ARGUMENT...]

systemd does it with the same library (src/shared/seccomp-util.c): one filter that knows the calls that are granted,
and one for MemoryDenyWriteExecute, by the arguments of those calls that ask for such memory.
"""

import ctypes
import errno
import os
import sys
from typing import Any

ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM
MASKED_EQUAL = 7
NO_NEW_PRIVILEGES = 38  # of prctl
WRITE, EXECUTE = 2, 4
WRITABLE_CODE = (("mmap", 2, WRITE | EXECUTE), ("mprotect", 2, EXECUTE), ("pkey_mprotect", 2, EXECUTE))


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp`: an argument of a call, masked, equals a value."""

    _fields_ = (
        ("argument", ctypes.c_uint), ("how", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64)
    )  # fmt: skip


def library(path: str) -> Any:
    found = ctypes.CDLL(path)
    found.seccomp_init.restype = ctypes.c_void_p
    found.seccomp_init.argtypes = (ctypes.c_uint32,)
    found.seccomp_rule_add_array.argtypes = (
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Comparison)
    )  # fmt: skip
    found.seccomp_load.argtypes = (ctypes.c_void_p,)
    return found


def grant(seccomp: Any, calls: list[str]) -> None:
    """Refuse all other calls. Names that this machine does not have are left out, as systemd does."""
    context = seccomp.seccomp_init(REFUSE)
    for name in calls:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number != -1:
            _must(seccomp.seccomp_rule_add_array(context, ALLOW, number, 0, None), name)
    _must(seccomp.seccomp_load(context), "the calls")


def deny_writable_code(seccomp: Any) -> None:
    context = seccomp.seccomp_init(ALLOW)
    for name, argument, bits in WRITABLE_CODE:
        comparison = Comparison(argument, MASKED_EQUAL, bits, bits)
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        _must(seccomp.seccomp_rule_add_array(context, REFUSE, number, 1, ctypes.byref(comparison)), name)
    _must(seccomp.seccomp_load(context), "memory")


def _must(code: int, what: str) -> None:
    if code:
        raise OSError(-code, f"no filter for {what}: {os.strerror(-code)}")


def main(path: str, calls: str, *command: str) -> None:
    seccomp = library(path)
    _must(ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "privileges")
    deny_writable_code(seccomp)
    grant(seccomp, calls.split(","))
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
