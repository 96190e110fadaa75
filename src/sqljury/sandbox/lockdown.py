"""Closes this process: afterwards it computes, reads and writes what it has open, and ends. There is no way back.

In order, and each for good: limits of the system, no privileges, Landlock where the kernel has it (with no rule, so
that no file, TCP port or other process can be reached), and seccomp, without which nothing is run. Then the walls are
tried.

The seccomp filter (``man 2 seccomp``, classic BPF) is an allow-list, so that a call which a later kernel adds is
denied. No call on it takes a path, makes a descriptor, a process or a thread, or reaches another process.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from typing import Final

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522
_DESCRIPTORS = 16


def limit(cpu_seconds: int, memory: int) -> None:
    """Have the system limit processor time, memory (bytes on top of today's), files, processes and core dumps."""
    import resource

    address_space = _address_space()
    wanted = {
        "CPU": (cpu_seconds, cpu_seconds + 1),  # the first ends it by a signal it may ignore, the second always
        "FSIZE": (0, 0),
        "CORE": (0, 0),
        "NPROC": (0, 0),
        "MEMLOCK": (0, 0),
        "MSGQUEUE": (0, 0),
        "NOFILE": (_DESCRIPTORS, _DESCRIPTORS),
    }
    if address_space is not None:
        wanted["AS"] = (address_space + memory, address_space + memory)
    for name, pair in wanted.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            _, hard = resource.getrlimit(number)
            soft, most = pair if hard == resource.RLIM_INFINITY else (min(pair[0], hard), min(pair[1], hard))
            resource.setrlimit(number, (soft, most))


def _address_space() -> int | None:
    try:
        with open("/proc/self/statm", "rb") as facts:
            return int(facts.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return None


def isolate(parent: int) -> tuple[str, ...]:
    """Put up the walls and try them; their names. ``parent`` is the process whose end is to end this one.

    Raises ``OSError`` when one that must stand does not; then nothing may be run.
    """
    if not sys.platform.startswith("linux"):
        raise OSError(f"there is no isolation for {platform.system()}")
    libc = ctypes.CDLL(None, use_errno=True)
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("there are other threads, which the walls would leave out")
    code = program(platform.machine(), os.getpid())
    for option, value in ((_SET_DEATH_SIGNAL, signal.SIGKILL), (_SET_DUMPABLE, 0), (_SET_NO_NEW_PRIVILEGES, 1)):
        if libc.prctl(option, int(value), 0, 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel takes no privileges away")
    if os.getppid() != parent:
        raise OSError("whoever started this process is gone")
    _drop_capabilities(libc)
    version = restrict(libc)
    install(libc, code)
    _try_walls()
    return ("seccomp", f"landlock {version}") if version else ("seccomp",)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """What root may do beyond others; the walls would hold without."""
    none = struct.pack("=6I", *[0] * 6)
    if libc.syscall(_CAPSET[platform.machine()], struct.pack("=Ii", _CAPABILITY_VERSION, 0), none):
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


def _try_walls() -> None:
    for attempt in (lambda: os.open("/", os.O_RDONLY), lambda: os.kill(os.getpid(), 0), os.getcwd, os.pipe):
        with contextlib.suppress(PermissionError):
            attempt()
            raise OSError("the walls do not hold: the kernel says they stand, and they do not")


_CREATE, _RESTRICT, _VERSION = 444, 446, 1
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""From which version on how many rights over files are known; the bits are consecutive."""

_TCP_SINCE, _SCOPES_SINCE = 4, 6


def version(libc: ctypes.CDLL) -> int:
    """The kernel's version of Landlock; 0 where it has none."""
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)))


def attributes(known: int) -> bytes:
    """All that version ``known`` can take away: rights over files, TCP, abstract sockets and signals."""
    bits = max(count for since, count in _FILE_RIGHTS.items() if since <= known)
    fields = [(1 << bits) - 1]
    if known >= _TCP_SINCE:
        fields.append(0b11)
    if known >= _SCOPES_SINCE:
        fields.append(0b11)
    return struct.pack(f"={len(fields)}Q", *fields)


def restrict(libc: ctypes.CDLL) -> int:
    """Take it all away from this thread for good; the version, 0 where the kernel has no Landlock."""
    known = version(libc)
    if not known:
        return 0
    given = attributes(known)
    ruleset = libc.syscall(_CREATE, given, ctypes.c_size_t(len(given)), 0)
    if ruleset < 0 or libc.syscall(_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), f"Landlock {known} is there but cannot be used")
    os.close(ruleset)
    return known


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


def _argument(index: int) -> int:
    """Where the lower half of an argument lies in what a filter sees; both architectures are little-endian."""
    return 16 + 8 * index


def install(libc: ctypes.CDLL, code: bytes) -> None:
    """Put the filter on this thread for good; raises ``OSError`` where the kernel does not take it."""

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    held = ctypes.create_string_buffer(code, len(code))
    given = _Program(len(code) // 8, ctypes.addressof(held))
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(given), 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel takes no seccomp filter")
