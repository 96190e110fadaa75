"""Wrong columns: asked for and not selected, or selected and not asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, outputs, shown
from sqljury.language.words import words
from sqljury.sql.parse import exp
from sqljury.types import Column, Table

_HEAD: Final = re.compile(
    r"^(?:please\s+)?(?:show|list|give|find|return|tell|what|which|who|report|display)\b"
    r"(?:\s+(?:me|us|is|are|was|were|out|the|all|of|distinct|different))*\s+(.*)"
)
_END: Final = re.compile(
    r"\b(?:of|for|from|in|that|who|whose|which|with|where|when|sorted|ordered|order|by|on|at|have|has|had|are|is|"
    r"were|was|do|does|did|to|if|as|corresponding)\b|[?.;:]"
)
_PARTS: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+as well as\s+|\s+along with\s+")
_LEADING: Final = frozenset(
    ["the", "a", "an", "all", "their", "its", "his", "her", "every", "each", "distinct", "different", "full", "also"]
)
_ALL: Final = re.compile(
    r"\b(info|information|detail|details|everything|record|records|data|rows?|content|all|entire)\b"
)
_NAMES: Final = {
    "first": ("fname", "first_name", "firstname", "forename", "name_first"),
    "last": ("lname", "last_name", "lastname", "surname", "name_last"),
}
_NAMING: Final = frozenset(["name", "title", "id", "code", "description", "detail"])


def asked(subject: Subject) -> tuple[tuple[str, ...], ...]:
    """The things that the question lists first, such as ``name``, ``date`` and ``result`` of each battle."""
    match = _HEAD.match(subject.question.lower().strip())
    if match is None:
        return ()
    head = _END.split(match[1], maxsplit=1)[0]
    phrases = []
    for part in _PARTS.split(head):
        listed = ["id" if word == "ids" else word for word in part.split() if word not in _LEADING]
        if listed:
            phrases.append(words(" ".join(listed)))
    return tuple(phrases)


def not_selected(subject: Subject) -> Iterator[Finding]:
    """The question lists a thing that is the name of a column, and the query does not use this column."""
    select = subject.outer
    if select is None or any(output.find(exp.Star) and not output.find(exp.Count) for output in select.expressions):
        return
    phrases = asked(subject)
    if len(phrases) < 2 or len(phrases) <= len(select.expressions):
        return
    used = {column.name.lower() for column in select.find_all(exp.Column)}
    tables = subject.sources(select)
    for phrase in phrases:
        columns = [column for table in tables.values() for column in table.columns if _named(column, table, phrase)]
        if columns and not any(column.name.lower() in used for column in columns) and not _covered(phrase, used):
            listed = f"the question lists {' '.join(phrase)!r} among {len(phrases)} things"
            evidence = f"{listed}; {columns[0].name} is not selected"
            yield Finding("wrong column", "not-selected", 0.75, "SELECT", evidence)
            return


def everything(subject: Subject) -> Iterator[Finding]:
    """The query selects all columns, and the question does not ask for everything."""
    select = next(iter(subject.selects), None)
    stars = select is not None and any(isinstance(output, exp.Star) for output in outputs(select))
    if select is None or not stars or _ALL.search(subject.question.lower()):
        return
    tables = subject.sources(select).values()
    named = any(
        _named(column, table, phrase) for phrase in asked(subject) for table in tables for column in table.columns
    )
    evidence = "all columns are selected; the question does not ask for everything"
    # of one table they may stand for the thing itself
    yield Finding("wrong column", "everything", 0.75 if named or len(tables) > 1 else 0.4, "SELECT *", evidence)


def not_asked(subject: Subject) -> Iterator[Finding]:
    """The question asks for one thing, and no selected column has a word in common with it."""
    select = subject.outer
    phrases = asked(subject)
    if select is None or len(phrases) != 1 or select.args.get("group") is not None:
        return
    chosen = [
        column for column in outputs(select) if isinstance(column, exp.Column) and not isinstance(column.this, exp.Star)
    ]
    if not chosen or len(chosen) != len(select.expressions) or len(subject.question.split(".")) > 2:
        return
    tables = subject.sources(select).values()
    if any(_NAMING & set(words(column.name)) for column in chosen):
        return  # what names a thing may stand for it
    meant = [column.name for table in tables for column in table.columns if _named(column, table, phrases[0])]
    question = " ".join(subject.stems)
    strange = [column for column in chosen if not any(_within(word, question) for word in words(column.name))]
    if meant and len(strange) == len(chosen) and not {name.lower() for name in meant} & _selected(chosen):
        evidence = f"the question asks for {' '.join(phrases[0])!r}, which is {meant[0]}"
        yield Finding("wrong column", "not-asked", 0.75, ", ".join(map(shown, chosen)), evidence)


def first_or_last(subject: Subject) -> Iterator[Finding]:
    """The question asks for first names only and the query selects last names only, or the other way round."""
    text = subject.question.lower()
    first, last = "first name" in text, "last name" in text or "family name" in text
    for select in subject.selects[:1]:
        chosen = [column for column in outputs(select) if isinstance(column, exp.Column)]
        kinds = {kind for column in chosen for kind, names in _NAMES.items() if column.name.lower().endswith(names)}
        if first != last and kinds == {"last" if first else "first"}:
            evidence = f"the question asks for the {'first' if first else 'last'} name alone"
            yield Finding("wrong column", "first-or-last", 0.85, ", ".join(map(shown, chosen)), evidence)


def _selected(chosen: list[exp.Column]) -> set[str]:
    return {column.name.lower() for column in chosen}


def _within(word: str, question: str) -> bool:
    """Whether the question has the word of a name, or a part of it with more than two letters."""
    return word in question or any(len(part) > 2 and (part in word) for part in question.split())


def _named(column: Column, table: Table, phrase: tuple[str, ...]) -> bool:
    """Whether the phrase is the column's name, with or without the table's name before it."""
    name = words(column.name)
    return phrase in (name, name[len(words(table.name)) :], (*words(table.name), *name)) and bool(name)


def _covered(phrase: tuple[str, ...], used: set[str]) -> bool:
    """Whether the name of a used column has a word of the phrase."""
    return any(set(words(name)) & set(phrase) for name in used)
