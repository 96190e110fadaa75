"""The system calls that running code may make, as a filter for the kernel (``man 2 seccomp``, classic BPF).

An allow-list, so that a call which a later kernel adds is denied. No call on it takes a path, makes a descriptor,
a process or a thread, or reaches another process: after it nothing can be opened, so nothing need be told apart.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import Final

ARCHITECTURES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""By the system's name for it: the kernel's number for the architecture, and the column of ``CALLS``."""

CALLS: Final[dict[str, tuple[int | None, int | None]]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""Allowed whatever their arguments: the numbers on x86_64 and aarch64."""

NO_CODE: Final = {"mmap": (9, 222), "mprotect": (10, 226)}
"""Allowed unless the memory is to hold code."""

TO_ITSELF: Final = (234, 131)
"""``tgkill``, allowed to the process itself alone: ``abort`` uses it."""

UNKNOWN: Final = (435, 435)
"""``clone3``, answered as on an old kernel: the C library then tries ``clone``, and reports that denial properly."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
_X32 = 0x40000000
_PROT_EXEC = 4
_SET_SECCOMP, _FILTER = 22, 2


def program(machine: str, pid: int) -> bytes:
    """The filter for process ``pid``, 8 bytes an instruction; raises ``OSError`` for an unknown architecture."""
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no list of system calls for {machine}")
    number, column = ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, number), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]  # x86_64's second set of numbers; unused elsewhere
    for numbers in CALLS.values():
        if (call := numbers[column]) is not None:
            code += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _ALLOW)]
    denied = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    for pair in NO_CODE.values():
        code += [(_EQUAL, 0, 4, pair[column]), (_LOAD, 0, 0, _argument(2)), (_ANY_BIT, 0, 1, _PROT_EXEC), denied]
        code += [(_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, 4, TO_ITSELF[column]), (_LOAD, 0, 0, _argument(0)), (_EQUAL, 1, 0, pid), denied]
    code += [(_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, 1, UNKNOWN[column]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS), denied]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _argument(place: int) -> int:
    """Where the lower half of an argument lies in what a filter sees; both architectures are little-endian."""
    return 16 + 8 * place


def install(libc: ctypes.CDLL, code: bytes) -> None:
    """Put the filter on this thread for good; raises ``OSError`` where the kernel does not take it."""

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    held = ctypes.create_string_buffer(code, len(code))
    given = _Program(len(code) // 8, ctypes.addressof(held))
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(given), 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel takes no seccomp filter")
