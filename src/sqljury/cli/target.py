"""What a command asks: a database by path or URL, or one of the context folder with all that the folder says of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqljury.access.rules import Access
    from sqljury.project import Project


def session_options(
    db: str | None,
    project: str | None,
    *,
    schemas: list[str] | None = None,
    recipe: str | None = None,
    model: str | None = None,
    access: Access | None = None,
    privacy: str | None = None,
    notes: list[str] | None = None,
    examples: str | None = None,
) -> dict[str, Any]:
    """The arguments of ``Session`` for ``--db`` and the options beside it.

    Of the context folder's settings options replace schemas, recipe, model, privacy and examples; rules of access and
    notes are added to it. A name of the folder is not looked for as a file: ``./NAME`` is one. Raises ``InputError``
    without a database, and what ``Project.database`` raises.
    """
    from sqljury.errors import InputError
    from sqljury.schema.notes_files import load as load_notes

    folder = project_for(db, project)
    if folder is None:
        if not db:
            raise InputError("no database; give --db, or work in a folder with sqljury.toml (sqljury init makes one)")
        options: dict[str, Any] = {"database": db, "notes": load_notes(*notes or ())}
    else:
        options = folder.database(db or "").session()
        options["notes"] += load_notes(*notes or ())
        if access and options["access"]:
            access = options["access"] + access
        if model and model.startswith("+"):  # an adapter for the folder's model
            model = f"{options['model'] or ''}{model}"
    given = {"schemas": schemas, "recipe": recipe, "model": model, "access": access, "examples": examples}
    given["privacy"] = privacy
    return {**options, **{name: value for name, value in given.items() if value}}


def project_for(db: str | None, project: str | None) -> Project | None:
    """The context folder that ``--db`` is a name of, or whose default is asked where it is not given.

    None for a path or URL, which is asked as it is; with ``--project`` the value is always a name.
    """
    from sqljury import project as projects

    if project is not None:
        return projects.load(project)
    if db and not projects.is_name(db):
        return None
    folder = projects.find()
    is_file = bool(db) and db not in (folder.names if folder else ()) and os.path.exists(str(db))
    return None if is_file else folder
