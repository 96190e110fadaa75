from __future__ import annotations

import re

from sqljury import errors


def everything(kind: type[errors.SqljuryError]) -> list[type[errors.SqljuryError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in everything(child))]


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = {name: int(code) for name, code in re.findall(r"(\w+Error)\s+(?:exit code )?(\d+)", errors.__doc__ or "")}
    assert drawn == {kind.__name__: kind.exit_code for kind in everything(errors.SqljuryError)}


def test_every_error_says_what_it_is() -> None:
    assert all(kind.__doc__ for kind in everything(errors.SqljuryError))
