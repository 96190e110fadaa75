"""Closes this process: afterwards it computes, reads and writes what it has open, and ends. There is no way back.

In order, and each for good: limits of the system, no privileges, Landlock where the kernel has it, and seccomp, without
which nothing is run. Then it is tried whether the walls stand.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import struct
import sys

from sqljury.sandbox import landlock, seccomp

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
    """Bytes of addresses in use, None where the system does not say."""
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
    code = seccomp.program(platform.machine(), os.getpid())
    for option, value in ((_SET_DEATH_SIGNAL, signal.SIGKILL), (_SET_DUMPABLE, 0), (_SET_NO_NEW_PRIVILEGES, 1)):
        if libc.prctl(option, int(value), 0, 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel takes no privileges away")
    if os.getppid() != parent:
        raise OSError("whoever started this process is gone")
    _drop_capabilities(libc)
    version = landlock.restrict(libc)
    seccomp.install(libc, code)
    _try_walls()
    return ("seccomp", f"landlock {version}") if version else ("seccomp",)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """What root may do beyond others; the walls would hold without."""
    none = struct.pack("=6I", *[0] * 6)
    if libc.syscall(_CAPSET[platform.machine()], struct.pack("=Ii", _CAPABILITY_VERSION, 0), none):
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


def _try_walls() -> None:
    """Raises unless what must be denied is denied."""
    for attempt in (lambda: os.open("/", os.O_RDONLY), lambda: os.kill(os.getpid(), 0), os.getcwd, os.pipe):
        with contextlib.suppress(PermissionError):
            attempt()
            raise OSError("the walls do not hold: the kernel says they stand, and they do not")
