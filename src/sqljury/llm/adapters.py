"""Adapters: small files that a training makes, added to the local weights while they run.

A model and its adapter are written ``MODEL+ADAPTER``; ``+ADAPTER`` alone is the default model with it. An adapter is
the path of a ``.gguf`` file, or the name of one in the cache's ``adapters`` folder or among those of this package.
Like weights, adapters are read by llama.cpp itself: take none from someone you would take no weights from.
"""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.errors import InputError, WeightsError
from sqljury.llm import models
from sqljury.resources import sha256_of

SUFFIX: Final = ".gguf"
PACKAGED: Final = Path(__file__).parent.parent / "adapters"
NONE: Final = "none"
"""In the place of an adapter's name: not the one of the recipe either."""
SERVED: Final = "sqljury.served_sha256"
"""The entry of an adapter that says which weights it is for, by their SHA-256."""
MERGED: Final = "sqljury.merged_adapter"
"""The entry of weights that an adapter was merged into: its name and the start of its SHA-256."""
HEAD: Final = 4096
"""Bytes of a file in which what is written first, its type and these entries, stands."""

_SERVED: Final = re.compile(re.escape(SERVED.encode() + struct.pack("<IQ", 8, 64)) + rb"([0-9a-f]{64})")
"""The entry as GGUF writes it: the key, 8 for a text, the text with its length."""
_MERGED: Final = re.compile(
    re.escape(MERGED.encode() + struct.pack("<I", 8)) + rb".{8}([^\0]{1,200}@[0-9a-f]{8})", re.DOTALL
)


class Adapter(NamedTuple):
    """A file of llama.cpp's form, and the SHA-256 of what it held when it was found."""

    name: str
    file: Path
    sha256: str

    @property
    def label(self) -> str:
        """The name with a mark that changes when the file does."""
        return f"{self.name}@{self.sha256[:8]}"


def parse(spec: str) -> tuple[str, str]:
    """(model, adapter) of ``MODEL+ADAPTER``; either may be empty. A plus within a path is a part of that path."""
    if os.path.isfile(models.expand(spec)):
        return spec, ""
    if f"{SUFFIX}+" in spec:
        model, _, adapter = spec.partition(f"{SUFFIX}+")
        return model + SUFFIX, adapter
    model, _, adapter = spec.partition("+")
    return (spec, "") if os.sep in model else (model, adapter)


def directory() -> Path:
    """The folder of the user's own adapters."""
    return models.cache_dir() / "adapters"


def named(name: str) -> Path:
    """The file of the user's own adapter of that name, there or not; raises ``InputError`` for what ``find`` misses."""
    if name in ("", NONE) or Path(name).name != name or name.endswith(SUFFIX):
        raise InputError(
            f"{name!r} is not a name for an adapter; write a word without {SUFFIX}, or give --out with a path"
        )
    return directory() / f"{name}{SUFFIX}"


def known() -> list[str]:
    """The names of the adapters that need no path, sorted."""
    return sorted({file.stem for folder in (directory(), PACKAGED) for file in folder.glob(f"*{SUFFIX}")})


def find(name: str, weights: str = "", *, read: bool = False) -> Adapter:
    """The adapter of that name or path; the user's own go before those of the package.

    Raises ``WeightsError``, also for one that is not for ``weights``, a catalogue name or path: as far as the adapter
    and what is known of the weights say so, or with ``read`` by the SHA-256 of what they hold.
    """
    file = _file(name)
    try:
        adapter = Adapter(file.stem, file, sha256_of(models.gguf(file)))
        if weights:
            _refuse_other(file, served(file), weights, read)
    except OSError as error:
        raise WeightsError(f"{error.filename} cannot be read ({error.strerror}); check its permissions") from None
    return adapter


def _file(name: str) -> Path:
    """The file of an adapter by name or path; raises ``WeightsError`` where there is none."""
    if name.endswith(SUFFIX) or os.sep in name:
        paths = [models.expand(name)]
    else:
        paths = [folder / f"{name}{SUFFIX}" for folder in (directory(), PACKAGED)]
    file = next((path for path in paths if os.path.isfile(path)), None)
    if file is None:
        listed = ", ".join(known()) or "none yet"
        raise WeightsError(f"there is no adapter {name!r}; known are {listed}, or give the path of a .gguf file")
    return file


def suits(name: str, model: str) -> bool:
    """Whether the model of this name is of the catalogue, wears no adapter, and is what the adapter is for.

    Its weights must be on this machine. Raises ``WeightsError`` for an unknown adapter.
    """
    if model not in models.CATALOGUE or models.find(model) is None:
        return False
    return served(_file(name)) == models.known_sha256(model)


def served(file: Path) -> str | None:
    """The SHA-256 of the weights that an adapter says it is for; None where it does not say."""
    with file.open("rb") as stream:
        match = _SERVED.search(stream.read(HEAD))
    return match[1].decode() if match else None


def merged(weights: Path) -> str | None:
    """The label of the adapter that was merged into weights; None where none was."""
    with weights.open("rb") as stream:
        match = _MERGED.search(stream.read(HEAD))
    return match[1].decode(errors="replace") if match else None


def _refuse_other(file: Path, sha256: str | None, weights: str, read: bool) -> None:
    """Raise ``WeightsError`` for an adapter that says it is for other weights: its numbers would mean nothing there."""
    path = None if weights in models.CATALOGUE else models.expand(weights)
    if path is not None and path.is_file() and (label := merged(path)):
        raise WeightsError(f"{weights} has the adapter {label} in it already; use these weights without an adapter")
    known = models.known_sha256(weights)
    if known is None and read:
        known = sha256_of(models.resolve(weights))
    if sha256 is None or known is None or sha256 == known:
        return
    wanted = next(
        (entry.name for entry in models.CATALOGUE.values() if entry.sha256 == sha256), f"those of SHA-256 {sha256}"
    )
    raise WeightsError(
        f"{file} is an adapter for other weights ({wanted}) than {weights}; name those before the plus, "
        f"or export it with --served-model {weights} if it was trained for them"
    )
