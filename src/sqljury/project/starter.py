"""The files of a new context folder, with comments that say what to write where."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sqljury.errors import ProjectError
from sqljury.project.folder import EXAMPLES, GLOSSARY, NOTES, SETTINGS
from sqljury.project.settings import NAME, has_password, variable
from sqljury.types.serialize import in_toml

_SETTINGS: Final = """\
# Databases that questions are asked about, by name: sqljury ask QUESTION --db NAME
# A path is one in this folder. Write no password here, but ${{NAME}} for an environment variable.
{default}# recipe = "default"
# model = "openai:NAME"
{databases}"""

_DATABASE: Final = """
[databases.{name}]
url = {url}
# schemas = ["public"]
# recipe = "fast"
# [databases.{name}.access]
# deny = ["customer.ssn"]
# mask = ["*.email"]
"""

_NOTES: Final = """\
# What the schema does not say (docs/schema.md). Remove the marks from what you need.
#
# tables:
#   orders:
#     description: an order, cancelled ones included
#     columns:
#       status:
#         description: how far the order is
#         values:
#           P: paid
#           X: cancelled
# formulas:
#   revenue: SUM(order_line.quantity * order_line.unit_price)
# joins:
#   - orders.customer_id = customer.id
# rules:
#   - compare names regardless of case
"""

_GLOSSARY: Final = """\
# Words that your questions use, and what they mean: one `term: meaning` a line.
#
# churned customer: one without an order in the last 12 months
"""


def create(folder: Path, databases: Mapping[str, str]) -> tuple[list[Path], list[str]]:
    """Write the files of a context folder; the new files, and the environment variables that have to be set.

    ``databases`` are paths and URLs by name. A password is left out and a variable written in its place. Files that
    are there stay as they are. Raises ``ProjectError`` where a ``sqljury.toml`` is already, for a wrong name,
    and for a path that is not text.
    """
    for name in databases:
        if not NAME.fullmatch(name):
            raise ProjectError(f"{name!r} is not a name; use letters, digits, _ and -, and begin with a letter")
    path = folder / SETTINGS
    if path.exists():
        raise ProjectError(f"{path}: is there already; edit it, or name another folder")
    urls = {name: _without_password(name, _placed(folder, url)) for name, url in databases.items()}
    for url, _ in urls.values():
        if url != url.encode(errors="replace").decode():
            raise ProjectError(f"{url!r}: is not UTF-8 text, which {SETTINGS} has to be; give the file another name")
    tables = "".join(_DATABASE.format(name=name, url=in_toml(url)) for name, (url, _) in urls.items())
    default = f'default = "{next(iter(urls))}"\n' if len(urls) > 1 else ""
    texts = {
        path: _SETTINGS.format(default=default, databases=tables or _commented(_DATABASE)),
        folder / NOTES: _NOTES,
        folder / GLOSSARY: _GLOSSARY,
        folder / EXAMPLES: "",
    }
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            if not file.exists():
                with file.open("x", encoding="utf-8") as stream:
                    stream.write(text)
                written.append(file)
    except OSError as error:
        raise ProjectError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None
    return written, [name for _, name in urls.values() if name]


def name_of(url: str) -> str:
    """The name proposed for a database: that of its file, or of the database on its server."""
    path = urlsplit(url).path if "://" in url else url
    stem = Path(path.rstrip("/") or "database").stem
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_-")
    return name if NAME.fullmatch(name) else f"db_{name}"[:63]


def _placed(folder: Path, url: str) -> str:
    """A path as seen from the folder, so that the file is right in another clone too; a URL as it is."""
    if "://" in url:
        return url
    path, home = Path(os.path.expanduser(url)).resolve(), folder.resolve()
    return os.path.relpath(path, home) if path.drive == home.drive else str(path)


def _without_password(name: str, url: str) -> tuple[str, str]:
    """The URL with an environment variable for a password, and the variable's name; empty where there is none."""
    if not has_password(url):
        return url, ""
    scheme, _, address = url.partition("://")
    user, at, host = address.rpartition("@")
    url = f"{scheme}://{user.partition(':')[0]}:${{{variable(name)}}}@{host}"
    if not at or has_password(url):
        raise ProjectError(f"{scheme}://…: has a password that is not between : and @; write it there")
    return url, variable(name)


def _commented(table: str) -> str:
    lines = table.format(name="shop", url='"shop.db"').strip().splitlines()
    return "\n" + "".join(f"# {line.removeprefix('# ')}\n" for line in lines)
