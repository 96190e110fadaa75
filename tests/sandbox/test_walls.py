"""Where the walls cannot be put up nothing is run, unless that was asked for."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from sqljury.sandbox import Sandbox, lockdown

SOURCE = Path(lockdown.__file__).parents[2]
DENIES = """
import ctypes, errno, os, platform, struct, sys, warnings
sys.path[:0] = {paths!r}
from sqljury.errors import SandboxError
from sqljury.sandbox import Sandbox, SandboxLimits, UnisolatedWarning, lockdown
number = {number}
denied = struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | errno.EPERM)
code = struct.pack("=HBBI", 0x20, 0, 0, 0) + struct.pack("=HBBI", 0x15, 0, {after}, number)
code += {condition} + denied + struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
libc = ctypes.CDLL(None, use_errno=True)
assert not libc.prctl(38, 1, 0, 0, 0)
lockdown.install(libc, code)
"""
NO_SECCOMP = {
    "number": {"x86_64": 157, "aarch64": 167}[os.uname().machine],
    "after": 3,
    # prctl(PR_SET_SECCOMP) alone
    "condition": 'struct.pack("=HBBI", 0x20, 0, 0, 16) + struct.pack("=HBBI", 0x15, 0, 1, 22)',
}
NO_LANDLOCK = {"number": 444, "after": 1, "condition": 'b""'}


def outcome(denies: dict[str, object], code: str) -> str:
    """What ``code`` prints in a Python whose kernel denies something."""
    script = DENIES.format(paths=[str(SOURCE), *sys.path], **denies) + code
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_seccomp_nothing_is_run() -> None:
    said = outcome(NO_SECCOMP, "try: Sandbox()\nexcept SandboxError as error: print(error, error.exit_code)")
    assert said == (
        "written code cannot be isolated here (the kernel takes no seccomp filter), so it is not run; use Linux with "
        "seccomp, or allow_unisolated=True if whoever wrote it may do all that you may 8"
    )


def test_unisolated_only_when_asked_for_and_loudly() -> None:
    said = outcome(
        NO_SECCOMP,
        "with warnings.catch_warnings(record=True) as heard:\n"
        "    warnings.simplefilter('always')\n"
        "    with Sandbox(allow_unisolated=True) as sandbox:\n"
        "        endless = sandbox.run('while 1: pass', limits=SandboxLimits(seconds=1.0))\n"
        "        print(sandbox.walls, sandbox.run('result = 1').result.rows, endless.kind)\n"
        "print([str(one.message) for one in heard if one.category is UnisolatedWarning])",
    )
    assert said.splitlines() == [
        "() ((1,),) time",
        "['written code runs WITHOUT isolation (the kernel takes no seccomp filter): "
        "it may read, change and send all that you may']",
    ]


def test_without_landlock_seccomp_stands_alone() -> None:
    said = outcome(
        NO_LANDLOCK,
        "with Sandbox() as sandbox:\n"
        "    print(sandbox.walls)\n"
        "    for attempt in ('open(\"/etc/passwd\")', 'import _socket; _socket.socket()', 'import os; os.fork()'):\n"
        "        print(str(sandbox.run(attempt).result.error)[:23])",
    )
    assert said.splitlines() == ["('seccomp',)", *["line 1: PermissionError"] * 3]


def test_allowing_does_not_take_walls_away(recwarn: pytest.WarningsRecorder) -> None:
    with Sandbox(allow_unisolated=True) as sandbox:
        assert "seccomp" in sandbox.walls
    assert not recwarn.list


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqljury.errors import SandboxError

    monkeypatch.delattr(os, "fork")
    with pytest.raises(SandboxError, match="cannot run written code, isolated or not; use Linux"):
        Sandbox(allow_unisolated=True)


def test_an_unknown_architecture_has_no_filter() -> None:
    with pytest.raises(OSError, match="no list of system calls for riscv64"):
        lockdown.program("riscv64", 1)


def jumps(code: bytes) -> list[tuple[int, int, int, int]]:
    return [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]


def verdict(code: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would say to a call: the filter run here, so that both architectures are tested on either."""
    facts = struct.pack("=IIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    program, at, held = jumps(code), 0, 0
    while True:
        what, yes, no, value = program[at]
        at += 1
        if what == 0x06:
            return value
        if what == 0x20:
            (held,) = struct.unpack_from("=I", facts, value)
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[what]
            at += yes if true else no


@pytest.mark.parametrize("machine", lockdown.ARCHITECTURES)
def test_the_filter_allows_the_list_and_nothing_else(machine: str) -> None:
    architecture, column = lockdown.ARCHITECTURES[machine]
    code = lockdown.program(machine, 4711)
    allowed = {pair[column] for pair in (*lockdown.CALLS.values(), *lockdown.NO_CODE.values())} - {None}
    assert {n for n in range(1024) if verdict(code, architecture, n) == 0x7FFF0000} == allowed
    tgkill = lockdown.TO_ITSELF[column]
    assert verdict(code, architecture, tgkill, 4711) == 0x7FFF0000
    assert verdict(code, architecture, tgkill, 4712) == 0x00050001
    for pair in lockdown.NO_CODE.values():
        assert verdict(code, architecture, pair[column], 0, 0, 3) == 0x7FFF0000
        assert verdict(code, architecture, pair[column], 0, 0, 5) == 0x00050001
    assert verdict(code, architecture, 0x40000000 + 1) == 0x80000000
    assert verdict(code, architecture ^ 1, 1) == 0x80000000


@pytest.mark.parametrize(("version", "size"), [(1, 8), (3, 8), (4, 16), (6, 24), (9, 24)])
def test_landlock_takes_all_that_its_version_knows(version: int, size: int) -> None:
    rights = lockdown.attributes(version)
    assert len(rights) == size
    assert struct.unpack_from("=Q", rights)[0] == (1 << {1: 13, 3: 15, 4: 15, 6: 16, 9: 16}[version]) - 1


def test_versions_are_asked_of_the_kernel() -> None:
    assert lockdown.version(ctypes.CDLL(None, use_errno=True)) >= 0
