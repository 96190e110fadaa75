"""A second wall on Linux: Landlock, with no rule, so that no file, TCP port or other process can be reached."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Final

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
