"""Takes descriptions, joins and metrics over from other tools: dbt and Apache Ossie; they are read, never executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.errors import ProjectError
from sqljury.project.imports import dbt, ossie
from sqljury.project.imports.notes import Imported, fitted, written
from sqljury.resources import write_whole
from sqljury.types import Schema

MAX_BYTES: Final = 256 * 1024 * 1024
HEADER: Final = "# Written by sqljury import, which writes it anew: change notes.yaml, which overrides it.\n"

_READERS: Final[dict[str, Callable[[Mapping[str, Any], str], Imported]]] = {"dbt": dbt.read, "ossie": ossie.read}


def collect(paths: Sequence[Path], dialect: str = "") -> dict[str, Imported]:
    """What the files say, by the tool that wrote them; raises ``ProjectError`` for one of another kind."""
    imported: dict[str, Imported] = {}
    for path in paths:
        content = _content(path)
        kind = _kind(content)
        if not kind:
            raise ProjectError(
                f"{path}: is neither dbt's manifest.json or semantic_manifest.json nor an Ossie semantic model"
            )
        imported.setdefault(kind, Imported()).add(_READERS[kind](content, dialect))
    return imported


def write(path: Path, imported: Imported, schema: Schema) -> list[str]:
    """Write the notes that fit the schema; what could not be used, with the reason.

    Raises ``ProjectError`` for a file that cannot be written, and for one that was not written by this.
    """
    fitting = fitted(imported, schema)
    try:
        if path.exists() and not path.read_text(encoding="utf-8").startswith(HEADER):
            raise ProjectError(f"{path}: was not written by sqljury import; move it away, or take its first line over")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, HEADER + written(fitting))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ProjectError(f"{path}: cannot be written ({reason})") from None
    return fitting.left_out


def _kind(content: Any) -> str:
    if not isinstance(content, dict):
        return ""
    if "nodes" in content or "semantic_models" in content:
        return "dbt"
    return "ossie" if "datasets" in content or "semantic_model" in content else ""


def _content(path: Path) -> Any:
    """The JSON or YAML of a file; aliases in YAML are refused, since a few lines of them can fill the memory."""
    import yaml

    try:
        if path.stat().st_size > MAX_BYTES:
            raise ProjectError(f"{path}: is larger than {MAX_BYTES // 1024 // 1024} MiB")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise ProjectError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    try:
        if path.suffix.lower() not in (".yaml", ".yml"):
            return json.loads(text)
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise ProjectError(f"{path}: has aliases (*); write the texts out")
        return yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ProjectError(f"{path}: is neither JSON nor YAML ({reason}); write it again") from None
