"""Files of learned weights: one reader, which trusts no file, and one writer, which replaces nothing else.

A file is JSON with its ``kind``, the ``version`` of what its figures mean, ``weights`` in log-odds by figure, and a
``card`` that says what they were learned from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeGuard

from sqljury.errors import InputError
from sqljury.resources import must_write, write_whole

LARGEST: Final = 1e6
"""Largest weight, positive or negative: infinite scores cannot be ordered."""
_BYTES: Final = 8 << 20  # far more than weights with their card


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of such files: its ``name`` for people, and the command that it is ``made_by``.

    A change of what a figure means raises the ``version``. The package's own file is ``own`` in the folder ``package``.
    """

    kind: str
    version: int
    name: str
    made_by: str
    package: str
    own: str

    def read(self, file: str, known: Collection[str]) -> dict[str, Any]:
        """What a file holds, the package's without a name; every weight is a number of a ``known`` figure.

        Raises ``InputError`` for a file that is missing, cannot be read, or is not of this kind and version.
        """
        loaded = self.loaded(file)
        source, again = file or self.own, f"make it again with `{self.made_by}`"
        if loaded.get("version") != self.version:
            raise InputError(f"{source}: is of version {loaded.get('version')!r}, not {self.version}; {again}")
        weights, card = loaded.get("weights"), loaded.get("card")
        if not isinstance(weights, dict) or not weights or not isinstance(card, dict):
            raise InputError(f"{source}: has no weights or no card; {again}")
        self.check_weights(weights, file, known)
        return loaded

    def check_weights(self, weights: Mapping[str, Any], file: str, known: Collection[str]) -> None:
        """Raise ``InputError`` for a weight in a file that is no number, or is not of a ``known`` figure."""
        source, again = file or self.own, f"make it again with `{self.made_by}`"
        for name, weight in weights.items():
            if name not in known:
                raise InputError(f"{source}: {name!r} is not a feature of this version; {again}")
            if not in_measure(weight):
                raise InputError(f"{source}: the weight of {name!r} is not a number of log-odds; {again}")

    def loaded(self, file: str) -> dict[str, Any]:
        """What a file of this kind holds, of any version; raises ``InputError`` as ``read`` does."""
        text, source = self.text(file), file or self.own
        try:
            loaded = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{source}: is not JSON; make it again with `{self.made_by}`") from None
        if not isinstance(loaded, dict) or loaded.get("kind") != self.kind:
            raise InputError(f"{source}: is not the file of {self.name}; make it again with `{self.made_by}`")
        return loaded

    def text(self, file: str) -> str:
        """The text of a file, the package's without a name; raises ``InputError``."""
        advice = f"name a file of `{self.made_by}`"
        if not file:
            shipped = files(self.package) / self.own
            if shipped.is_file():
                return shipped.read_text(encoding="utf-8")
            raise InputError(f"this version comes without {self.name}; {advice}")
        try:
            if not os.path.isfile(file):  # a pipe or a device may never end
                raise InputError(f"{file}: cannot be read (no such file); {advice}")
            with Path(file).open("rb") as stream:
                raw = stream.read(_BYTES + 1)
            if len(raw) > _BYTES:
                raise InputError(f"{file}: is too large for weights; {advice}")
            return raw.decode()
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror}); {advice}") from None
        except UnicodeDecodeError:
            raise InputError(f"{file}: is not UTF-8 text; {advice}") from None

    def check_out(self, out: Path) -> None:
        """Raise ``InputError`` where ``save`` could not write: before long work rather than after it.

        An existing file is replaced only if it is empty or of this kind, of any version.
        """
        if not out.parent.is_dir():
            raise InputError(
                f"{out}: cannot be written (there is no folder {out.parent}); make it, or name another --out"
            )
        if (out.exists() or out.is_symlink()) and self.text(str(out)):
            self.loaded(str(out))


class Learned(Protocol):
    """What is kept in such a file."""

    FORMAT: ClassVar[Format]

    def to_json(self) -> dict[str, Any]:
        """What the file holds, its kind and version too."""


def save(learned: Learned, out: Path) -> None:
    """Write what the format reads; raises what ``check_out`` raises, and ``InputError`` where it cannot be written."""
    learned.FORMAT.check_out(out)
    with must_write(out, InputError, "name another file with --out"):
        write_whole(out, json.dumps(learned.to_json(), indent=1) + "\n")


def in_measure(value: Any) -> TypeGuard[float]:
    """Whether it is a number that a weight may be."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST
