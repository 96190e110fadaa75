"""Attempts to get out. Each must be contained: nothing outside changes or is read, and the next run works.

The secret, the folder and the listener are real: an attempt that gets through reaches them.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sqljury.sandbox import Sandbox, SandboxLimits

SECRET = "the-secret-of-the-parent-4711"
LIMITS = SandboxLimits(seconds=4, cpu_seconds=4, memory=256 * 1024**2, printed=4096, output=256 * 1024)
SHORT = replace(LIMITS, seconds=0.7)
PREAMBLE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    got = libc.syscall(*[ctypes.c_long(one) if isinstance(one, int) else one for one in arguments])
    return got if got >= 0 else f"errno {ctypes.get_errno()}"
"""


@dataclass(frozen=True)
class Outside:
    """What an attempt would reach: a folder with a secret in a file, and a port that someone listens on."""

    folder: Path
    secret: Path
    listener: socket.socket

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def unharmed(self) -> None:
        assert sorted(path.name for path in self.folder.iterdir()) == ["secret.txt"]
        assert self.secret.read_text() == SECRET
        self.listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            self.listener.accept()


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    monkeypatch.setenv("SQLJURY_TEST_SECRET", SECRET)
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Outside(tmp_path, secret, listener)


def children() -> set[int]:
    """The processes below this one, however deep."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, above = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                below.setdefault(int(above), []).append(int(entry.name))
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        more = below.get(todo.pop(), [])
        found.update(more)
        todo += more
    return found


DENIED = {
    # files
    "read a file": "open({secret!r}).read()",
    "read a file by os": "import os; os.read(os.open({secret!r}, 0), 100)",
    "read /etc/passwd": "open('/etc/passwd').read()",
    "read a file by ctypes": "assert call({open}, {secret!r}.encode(), 0) == 'errno 1'; raise PermissionError",
    "read a file by openat2": "import struct; how = struct.pack('3Q', 0, 0, 0); "
    "assert call(437, -100, {secret!r}.encode(), how, 24) == 'errno 1'; raise PermissionError",
    "read a file by fopen": "libc.fopen.restype = ctypes.c_void_p; assert not libc.fopen({secret!r}.encode(), b'r'); "
    "raise PermissionError",
    "read a file by pandas": "result = pd.read_csv({secret!r}, header=None)",
    "read a file by numpy": "result = np.fromfile({secret!r}, dtype='u1')",
    "read a file by memmap": "result = np.memmap({secret!r}, dtype='u1')",
    "read a file by arrow": "import pyarrow; result = pyarrow.memory_map({secret!r}).read().decode()",
    "read a file by io_uring": "import mmap; assert call(425, 8, bytes(120)) == 'errno 1'; raise PermissionError",
    "read a file by linecache": "import linecache; print(linecache.getlines({secret!r})); raise PermissionError",
    "list a folder": "import os; result = os.listdir({folder!r})",
    "look for a file": "import os; os.stat({secret!r})",
    "walk": "import os; print(list(os.walk({folder!r}))); raise PermissionError",
    "glob": "from pathlib import Path; assert not list(Path({folder!r}).glob('*')); raise PermissionError",
    "write a file": "open({folder!r} + '/new', 'w').write('x')",
    "write by pandas": "pd.DataFrame({{'a': [1]}}).to_csv({folder!r} + '/new')",
    "write to its own folder": "open('new', 'w').write('x')",
    "write by pickle": "pd.DataFrame({{'a': [1]}}).to_pickle({folder!r} + '/new')",
    "overwrite by truncate": "import os; os.truncate({secret!r}, 0)",
    "delete a file": "import os; os.unlink({secret!r})",
    "rename a file": "import os; os.rename({secret!r}, {folder!r} + '/new')",
    "change a mode": "import os; os.chmod({secret!r}, 0)",
    "symbolic link": "import os; os.symlink({secret!r}, {folder!r} + '/new')",
    "hard link": "import os; os.link({secret!r}, {folder!r} + '/new')",
    "make a folder": "import os; os.mkdir({folder!r} + '/new')",
    "make a fifo": "import os; os.mkfifo({folder!r} + '/new')",
    "make a device": "import os, stat; os.mknod({folder!r} + '/new', stat.S_IFCHR | 0o600, os.makedev(1, 1))",
    "temporary file": "import os; os.open({folder!r}, os.O_TMPFILE | os.O_RDWR)",
    "memory file": "import os; os.memfd_create('x')",
    "where it is": "import os; os.getcwd()",
    "go elsewhere": "import os; os.chdir('/')",
    "new root": "import os; os.chroot('/')",
    "mount": "assert call({mount}, b'none', {folder!r}.encode(), b'tmpfs', 0, 0) == 'errno 1'; raise PermissionError",
    # /proc and /sys
    "environment of the parent": "open('/proc/{pid}/environ').read()",
    "memory of the parent": "open('/proc/{pid}/mem', 'r+b')",
    "own memory": "open('/proc/self/mem', 'r+b')",
    "own maps": "open('/proc/self/maps').read()",
    "descriptors of the parent": "import os; result = os.listdir('/proc/{pid}/fd')",
    "sys": "open('/sys/kernel/uevent_helper', 'w').write('/bin/sh')",
    "device": "open('/dev/mem', 'rb')",
    # network
    "TCP": "s = __import__('_socket').socket(2, 1); s.connect(('127.0.0.1', {port}))",
    "UDP": "__import__('_socket').socket(2, 2)",
    "IPv6": "__import__('_socket').socket(10, 1)",
    "unix": "__import__('_socket').socket(1, 1)",
    "netlink": "__import__('_socket').socket(16, 3, 0)",
    "packet": "__import__('_socket').socket(17, 3, 0)",
    "vsock": "assert call({socket}, 40, 1, 0) == 'errno 1'; raise PermissionError",
    "alg": "assert call({socket}, 38, 5, 0) == 'errno 1'; raise PermissionError",
    "every family": "assert {{call({socket}, n, 1, 0) for n in range(64)}} == {{'errno 1'}}; raise PermissionError",
    "pair": "__import__('_socket').socketpair()",
    "read a URL": "pd.read_csv('http://127.0.0.1:{port}/x.csv')",
    "read JSON of a URL": "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/')",
    "read by DNS": "__import__('_socket').getaddrinfo('example.org', 80)",
    # processes
    "fork": "import os; os.fork()",
    "fork bomb": "import os\nwhile True: os.fork()",
    "vfork by ctypes": "assert call({clone}, 0x4111, 0, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "clone3": "assert call(435, bytes(88), 88) == 'errno 38'; raise PermissionError",
    "exec": "import os; os.execv('/bin/sh', ['sh'])",
    "execveat": "assert call({execveat}, -100, b'/bin/sh', 0, 0, 0) == 'errno 1'; raise PermissionError",
    "system": "import os; assert os.system('id') != 0; raise PermissionError",
    "popen": "import os; os.popen('id').read()",
    "posix_spawn": "import os; os.posix_spawn('/bin/sh', ['sh'], {{}})",
    "subprocess by subclasses": "found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen']\n"
    "import _posixsubprocess; result = found[0]('id') if found else __import__('os').fork()",
    "thread": "import threading; threading.Thread(target=print).start()",
    "thread by _thread": "import _thread; _thread.start_new_thread(print, ())",
    "unshare": "assert call({unshare}, 0x10000000) == 'errno 1'; raise PermissionError",
    # other processes
    "signal to the parent": "import os; os.kill({pid}, 9)",
    "signal to the template": "import os, ctypes; os.kill(libc.getppid(), 9)",
    "signal to all": "import os; os.kill(-1, 9)",
    "signal to a group": "import os; os.killpg(0, 9)",
    "tgkill to the parent": "assert call({tgkill}, {pid}, {pid}, 9) == 'errno 1'; raise PermissionError",
    "queued signal": "assert call({sigqueue}, {pid}, 9, bytes(128)) == 'errno 1'; raise PermissionError",
    "pidfd of the parent": "import os; os.pidfd_open({pid})",
    "pidfd_getfd": "assert call(438, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "ptrace": "assert call({ptrace}, 16, {pid}, 0, 0) == 'errno 1'; raise PermissionError",
    "read the parent's memory": "assert call({vm_read}, {pid}, 0, 0, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "nice of the parent": "import os; os.setpriority(os.PRIO_PROCESS, {pid}, 19)",
    "schedule": "import os; os.sched_setscheduler({pid}, os.SCHED_FIFO, os.sched_param(1))",
    "affinity": "import os; os.sched_setaffinity({pid}, {{0}})",
    "limits of the parent": "import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (1, 1))",
    "lift its limits": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (99, 99))",
    "lift by prctl": "assert call({prctl}, 4, 1, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "become another": "import os; os.setuid(0)",
    "a session of its own": "import os; os.setsid()",
    # the kernel
    "bpf": "assert call({bpf}, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "keys": "assert call({keyctl}, 0, 0, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "performance events": "assert call({perf}, 0, 0, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "user faults": "assert call({userfaultfd}, 0) == 'errno 1'; raise PermissionError",
    "shared memory": "assert call({shmget}, 0, 4096, 0o1600) == 'errno 1'; raise PermissionError",
    "clock": "import time; time.clock_settime(0, 0)",
    "reboot": "assert call({reboot}, 0, 0, 0, 0) == 'errno 1'; raise PermissionError",
    "hostname": "assert call({uname}, bytes(400)) == 'errno 1'; raise PermissionError",
    "code of its own": "import mmap; mmap.mmap(-1, 4096, prot=7)",
    "code by mprotect": "here = ctypes.create_string_buffer(8192); at = ctypes.addressof(here) + 4095 & ~4095\n"
    "assert libc.mprotect(ctypes.c_void_p(at), 4096, 7) == -1; raise PermissionError",
    "another filter": "assert call({seccomp}, 1, 0, bytes(16)) == 'errno 1'; raise PermissionError",
    "loading a library": "ctypes.CDLL({secret!r})",
    # tricks of pandas and of Python
    "eval of pandas": "pd.DataFrame({{'a': [1]}}).query('@pd.io.common.os.open(\"{secret}\", 0)')",
    "eval with a function": "f = open; p = {secret!r}; pd.DataFrame({{'a': [1]}}).eval('b = @f(@p)')",
    "pickle of pandas": "import io, pickle\n"
    "class Bad:\n    def __reduce__(self): return (open, ({secret!r},))\n"
    "pd.read_pickle(io.BytesIO(pickle.dumps(Bad())))",
    "globals of a function": "pd.read_csv.__globals__['__builtins__']['open']({secret!r})",
    "loader of modules": "().__class__.__base__.__subclasses__()\n"
    "result = __import__('importlib.machinery').machinery.SourceFileLoader('x', {secret!r}).get_data({secret!r})",
    "HDF": "import sys; sys.path.append({folder!r}); import secret",
    "database of a file": "import sqlite3; sqlite3.connect({secret!r})",
    "code on disk": "import io; exec(io.open_code({secret!r}).read())",
}
"""What is attempted, and raises when it is denied; ``call`` is a bare system call."""

NUMBERS = {
    "x86_64": {
        "open": 2,
        "mount": 165,
        "socket": 41,
        "clone": 56,
        "execveat": 322,
        "unshare": 272,
        "tgkill": 234,
        "sigqueue": 129,
        "ptrace": 101,
        "vm_read": 310,
        "prctl": 157,
        "bpf": 321,
        "keyctl": 250,
        "perf": 298,
        "userfaultfd": 323,
        "shmget": 29,
        "reboot": 169,
        "uname": 63,
        "seccomp": 317,
    },
    "aarch64": {
        "open": 56,
        "mount": 40,
        "socket": 198,
        "clone": 220,
        "execveat": 281,
        "unshare": 97,
        "tgkill": 131,
        "sigqueue": 138,
        "ptrace": 117,
        "vm_read": 270,
        "prctl": 167,
        "bpf": 280,
        "keyctl": 219,
        "perf": 241,
        "userfaultfd": 282,
        "shmget": 194,
        "reboot": 142,
        "uname": 160,
        "seccomp": 277,
    },
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(sandbox: Sandbox, outside: Outside, name: str) -> None:
    facts = {"secret": str(outside.secret), "folder": str(outside.folder), "port": outside.port, "pid": os.getpid()}
    code = DENIED[name].format(**facts, **NUMBERS[os.uname().machine])
    found = sandbox.run(PREAMBLE + code, limits=LIMITS)
    assert found.kind == "code", found
    error = str(found.result.error or "")
    harmless = ("PermissionError", "ModuleNotFoundError", "can't start new thread", "Operation not permitted")
    harmless += ("gaierror", "URLError", "is not a supported function", "No module named", "cannot open shared object")
    harmless += ("not allowed to raise maximum limit", "unable to open database file")
    assert any(word in error for word in harmless), error
    assert SECRET not in f"{found.stdout}{error}{found.result.rows}"
    outside.unharmed()


ENDED = {
    "endless loop": ("while True: pass", {"time"}),
    "endless sleep": ("import time; time.sleep(1000)", {"time"}),
    "endless loop that ignores signals": (
        "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
        "while True: pass",
        {"time"},
    ),
    "endless loop in one call": ("9 ** 9 ** 9", {"time", "memory"}),
    "endless regular expression": ("import re; re.match('(a+)+$', 'a' * 64 + 'b')", {"time"}),
    "endless loop in what is caught": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        {"time"},
    ),
    "never reads its end": ("import os; os.read(0, 1); os.read(0, 1); import time; time.sleep(1000)", {"time"}),
    "memory bomb": ("x = 'x' * 10 ** 11", {"memory"}),
    "memory bomb by steps": ("x = []\nwhile True: x.append(bytearray(10 ** 7))", {"memory"}),
    "memory bomb of numpy": ("x = np.ones(10 ** 10)", {"memory", "code"}),
    "memory bomb of shared pages": (
        "import mmap; x = [mmap.mmap(-1, 10 ** 8) for n in range(100)]",
        {"memory", "code"},
    ),
    "memory bomb of pandas": ("x = pd.DataFrame({'a': [1] * 10 ** 5}); x = x.merge(x, on='a')", {"memory", "code"}),
    "memory bomb by arrow": ("import pyarrow as pa; x = pa.allocate_buffer(10 ** 11)", {"memory", "code"}),
    "output bomb": ("while True: print('x' * 10000)", {"output"}),
    "output bomb by descriptor": ("import os\nwhile True: os.write(1, b'x' * 10000)", {"output"}),
    "output bomb of errors": ("import os\nwhile True: os.write(2, b'x' * 10000)", {"output"}),
    "reply bomb": ("result = ['x' * 10 ** 7] * 5", {"output", "memory"}),
    "reply bomb by descriptor": ("import os\nwhile True: os.write(3, b'x' * 10000)", {"output"}),
    "exit": ("import os; os._exit(0)", {"crash"}),
    "exit with a code": ("import os; os._exit(77)", {"crash"}),
    "leave politely": ("import sys; sys.exit(0)", {"code"}),
    "abort": ("import os; os.abort()", {"crash"}),
    "crash": ("import ctypes; ctypes.string_at(0)", {"crash"}),
    "deep recursion": (
        "import sys; sys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()",
        {"crash", "memory", "code", "time"},
    ),
    "foreign architecture": ("import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)", {"crash"}),
    "closes its descriptors": (
        "import os\nfor n in range(100):\n    try: os.close(n)\n    except OSError: pass\nresult = 1",
        {"crash"},
    ),
    "writes over its own code": (
        "import ctypes; at = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value; ctypes.memset(at, 0, 8)",
        {"crash"},
    ),
    "endless message": ("raise ValueError('x' * 10 ** 7)", {"code"}),
    "message that never comes": (
        "class Bad(Exception):\n    def __str__(self):\n        while True: pass\nraise Bad",
        {"time"},
    ),
}
"""What would never end or take too much, and how it may end."""


@pytest.mark.parametrize("name", ENDED)
def test_ended(sandbox: Sandbox, outside: Outside, name: str) -> None:
    code, kinds = ENDED[name]
    before = children()
    started = time.monotonic()
    found = sandbox.run(code, limits=SHORT if "time" in kinds else LIMITS)
    assert time.monotonic() - started < LIMITS.seconds + 10
    assert found.kind in kinds, found
    assert len(str(found.result.error or "")) < 700
    assert found.result.rows == ()
    assert children() <= before
    outside.unharmed()


def test_processor_time_is_limited(sandbox: Sandbox) -> None:
    found = sandbox.run("while True: pass", limits=replace(LIMITS, seconds=20, cpu_seconds=1))
    assert (found.kind, str(found.result.error)) == ("time", "it took more than 1 s of processor time, or was killed")


def test_environment_holds_no_secret(sandbox: Sandbox, outside: Outside) -> None:
    found = sandbox.run("import os; result = [f'{k}={v}' for k, v in os.environ.items()]")
    assert found.ok
    assert SECRET not in str(found.result.rows)
    assert not {row[0].partition("=")[0] for row in found.result.rows} & {"HOME", "PATH", "USER", "SQLJURY_TEST_SECRET"}


def test_no_descriptor_is_inherited(sandbox: Sandbox, outside: Outside) -> None:
    with outside.secret.open("rb") as held:
        os.set_inheritable(held.fileno(), True)
        number = {"x86_64": 5, "aarch64": 80}[os.uname().machine]
        code = f"{PREAMBLE}\nresult = [n for n in range(1024) if call({number}, n, bytes(512)) == 0]"
        with Sandbox() as fresh:
            assert fresh.run(code).result.rows == ((0,), (1,), (2,), (3,))


def test_memory_of_other_runs_cannot_be_found(sandbox: Sandbox) -> None:
    sandbox.run("import builtins; builtins.kept = ['left-by-a-run', 4711]; result = 1")
    code = "import gc; result = any(o[1:] == [4711] for o in gc.get_objects() if type(o) is list)"
    assert sandbox.run(code).result.rows == ((False,),)


def test_nothing_is_left_in_its_folder(sandbox: Sandbox) -> None:
    assert sandbox.run("import os; os.abort()").kind == "crash"  # a core would be dumped where it runs
    assert os.listdir(sandbox._folder.name) == []


def test_a_killed_template_is_replaced_and_ends_with_its_owner(sandbox: Sandbox) -> None:
    before = children()
    with Sandbox() as fresh:
        fresh._process.kill()
        fresh._process.wait()
        assert fresh.run("result = 1").result.rows == ((1,),)
        killer = threading.Timer(0.3, lambda: fresh._process.kill())
        killer.start()
        assert fresh.run("while True: pass", limits=LIMITS).kind == "crash"
        assert fresh.run("result = 1").result.rows == ((1,),)
        assert len(children() - before) == 1
    deadline = time.monotonic() + 5
    while children() - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not children() - before


@pytest.fixture(autouse=True, scope="module")
def still_works(sandbox: Sandbox) -> Iterator[None]:
    """After all attempts the same warm process serves."""
    pid = sandbox._process.pid
    yield
    assert sandbox._process.pid == pid
    assert sandbox.run("result = 41 + 1").result.rows == ((42,),)
