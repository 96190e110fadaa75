"""Thumbs and corrections, and what they propose: approved examples, terms, rules, and which context is missing."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document, json_lines
from sqljury.datasets.reading import field as field_of
from sqljury.errors import NotesError, ProjectError
from sqljury.language.instructions import Instruction, instructions
from sqljury.language.words import FORM_WORDS, UNSPACED, content_words, words
from sqljury.project.folder import FEEDBACK, Known, Project
from sqljury.resources import must_write, write_whole
from sqljury.schema.notes_files import glossary_lines, parse_glossary, parse_yaml
from sqljury.sql.resolve import used
from sqljury.types import Schema

MISSING_SHOWN: Final = 10
_COMMENT_CHARS: Final = 2_000
_RULES: Final = re.compile(r"^rules:[ \t]*(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody said of an answer: a thumb, the query that is right where it was not, and a comment."""

    question: str
    sql: str
    database: str
    good: bool
    correction: str = ""
    comment: str = ""
    place: str = ""


@dataclass(slots=True)
class Proposal:
    """New texts by file, what the answers that were wrong lacked, and what could not be used, with the reason."""

    texts: dict[Path, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def diff(self, folder: Path) -> str:
        """The changes as a unified diff of the files of ``folder``."""
        return "".join(_diff(path, text, folder) for path, text in self.texts.items())

    def apply(self) -> None:
        """Write the new texts; raises ``ProjectError`` for a file that cannot be written."""
        for path, text in self.texts.items():
            with must_write(path, ProjectError):
                write_whole(path, text)


def record(project: Project, given: Feedback) -> None:
    """Append one line to the folder's ``feedback.jsonl``; raises ``ProjectError`` if it cannot be written."""
    entry = {
        "question": given.question,
        "sql": given.sql,
        "db_id": given.database,
        "good": given.good,
        **({"correction": given.correction} if given.correction else {}),
        **({"comment": given.comment} if given.comment else {}),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    path = project.folder / FEEDBACK
    with must_write(path, ProjectError), path.open("ab+") as file:
        if file.tell():  # an editor may have left the last line without its end
            file.seek(-1, os.SEEK_END)
            file.write(b"" if file.read(1) == b"\n" else b"\n")
        file.write((json.dumps(entry) + "\n").encode())


def remember(project: Project, database: str, term: str, meaning: str) -> None:
    """Write what somebody meant by ``term`` into the glossary of a database, in place of what it said of it before.

    Raises ``ProjectError`` for a file that cannot be read or written, and ``NotesError`` for one that is no glossary or
    has several terms on a line.
    """
    path = project.glossary_file(database)
    old = _ended(_text(Proposal(), path))
    before = dict(parse_glossary(old, str(path)).glossary)
    lines = old.splitlines(keepends=True)
    first, end = glossary_lines(old, term)
    del lines[first:end]
    key, text = (json.dumps(value, ensure_ascii=False) for value in (term, meaning))
    new = f"{''.join(lines)}{key}: {text}\n"
    after = dict(parse_glossary(new, str(path)).glossary)
    if {**after, term: ""} != {**before, term: ""}:  # the lines held other terms too
        raise NotesError(f"notes {path}: write one term a line there, and add what {term[:80]!r} means")
    with must_write(path, ProjectError):
        write_whole(path, new)


def read(project: Project) -> list[Feedback]:
    """The folder's feedback, the oldest first; raises ``DatasetError`` that names the line."""
    path = project.folder / FEEDBACK
    return (
        [_feedback(entry, location, project) for entry, location in json_lines(Document.of(path))]
        if path.exists()
        else []
    )


def propose(
    project: Project,
    known: Known,
    entries: Sequence[Feedback],
    schema: Schema,
    failing: Callable[[str], str],
    proposal: Proposal,
) -> None:
    """Add to ``proposal`` what the feedback on one database gives.

    A thumb up approves the question with its query, a correction with the corrected one; of several on one question the
    last counts. ``failing`` says why a query does not run, empty if it does. Definitions in comments become terms and
    imperatives rules; the rest of the comments is left for a reader.
    """
    of_database = [entry for entry in entries if entry.database == known.name]
    last = {" ".join(entry.question.casefold().split()): entry for entry in of_database}
    _examples(project, known, last.values(), failing, proposal)
    terms = _knowledge(project, known, of_database, proposal)
    proposal.missing += _missing(known, list(last.values()), schema, terms)


def _feedback(entry: Mapping[str, Any], location: str, project: Project) -> Feedback:
    good = entry.get("good")
    if not isinstance(good, bool):
        raise ProjectError(f"{location}: 'good' is neither true nor false; write one of them")
    texts = {
        name: field_of(entry, (name,), location, may_be_empty=True)
        for name in ("sql", "correction", "comment")
        if name in entry
    }
    database = str(entry.get("db_id") or project.default)
    return Feedback(
        field_of(entry, ("question",), location),
        texts.get("sql", ""),
        database,
        good,
        texts.get("correction", ""),
        texts.get("comment", "")[:_COMMENT_CHARS],
        location,
    )


def _examples(
    project: Project, known: Known, entries: Iterable[Feedback], failing: Callable[[str], str], proposal: Proposal
) -> None:
    approved = {" ".join(pair.question.casefold().split()): pair for pair in known.approved}
    lines = []
    for entry in entries:
        sql = (entry.correction or (entry.sql if entry.good else "")).strip()
        before = approved.get(" ".join(entry.question.casefold().split()))
        if not sql or (before is not None and before.sql.strip() == sql):
            continue
        if before is not None:
            proposal.left_out.append(f"{entry.place}: {before.place} approves another query; change it there")
        elif problem := failing(sql):
            proposal.left_out.append(f"{entry.place}: its query does not run: {problem}")
        else:
            shot = {"question": entry.question, "sql": sql, "db_id": known.name}
            lines.append(json.dumps(shot, ensure_ascii=False) + "\n")
    if lines:
        path = project.examples_file(known.name)
        proposal.texts[path] = _ended(_text(proposal, path)) + "".join(lines)


def _knowledge(project: Project, known: Known, entries: Iterable[Feedback], proposal: Proposal) -> set[str]:
    """Add the terms and rules of comments; all terms that are explained then."""
    terms = {term.casefold() for term, _ in (*known.notes.glossary, *known.notes.formulas)}
    for entry in entries:
        for instruction in instructions(entry.comment):
            if instruction.term and instruction.term.casefold() not in terms:
                terms.add(instruction.term.casefold())
                _add_term(project.glossary_file(known.name), instruction, entry.place, proposal)
            elif instruction.is_rule and instruction.text not in known.notes.rules:
                _add_rule(project.notes_file(known.name), instruction.text, entry.place, proposal)
            elif not instruction.term and not instruction.is_rule:
                proposal.left_out.append(f"{entry.place}: is neither a definition nor a rule: {instruction.text[:120]}")
    return terms


def _add_term(path: Path, term: Instruction, location: str, proposal: Proposal) -> None:
    """A line of the glossary, which databases may share; left out where the file has them in another form."""
    text = _text(proposal, path)
    pair = (json.dumps(value, ensure_ascii=False) for value in (term.term, term.meaning))
    new = f"{_ended(text)}{': '.join(pair)}\n"
    try:
        known = {name.casefold() for name, _ in parse_glossary(text).glossary}
        if term.term.casefold() in known:
            return
        parse_glossary(new)
    except NotesError:
        proposal.left_out.append(f"{location}: write the term into {path.name} yourself: {term.text[:120]}")
    else:
        proposal.texts[path] = new


def _add_rule(path: Path, rule: str, location: str, proposal: Proposal) -> None:
    """A line under ``rules``; left out where the file has them in another form."""
    text = _text(proposal, path)
    line = f"  - {json.dumps(rule, ensure_ascii=False)}\n"
    heading = _RULES.search(text)
    if heading is None:
        new = f"{_ended(text)}rules:\n{line}"
    else:
        end = heading.end() + 1
        new = f"{_ended(text[:end])}{line}{text[end:]}"
    try:
        before, after = parse_yaml(text).rules, parse_yaml(new).rules
    except NotesError:
        before, after = (), ()
    if rule in before:
        return
    if rule in after:
        proposal.texts[path] = new
    else:
        proposal.left_out.append(f"{location}: write the rule into {path.name} yourself: {rule[:120]}")


def _missing(known: Known, entries: Sequence[Feedback], schema: Schema, proposed: Iterable[str]) -> list[str]:
    """Columns that corrections needed and nothing describes, and words of wrong answers that nothing explains.

    ``proposed`` are the terms that comments have just explained.
    """
    wrong = [entry for entry in entries if not entry.good]
    noted = {(item.table.casefold(), item.column.casefold()) for item in known.notes.items}
    needed = Counter(
        column
        for entry in wrong
        if entry.correction
        for column in _columns(schema, entry.correction) - _columns(schema, entry.sql)
        if (column[0].casefold(), column[1].casefold()) not in noted
    )
    explained = {*_explained(known, schema), *(word for term in proposed for word in content_words(term))}
    unknown = Counter(
        word
        for entry in wrong
        if not entry.correction
        for word in dict.fromkeys(content_words(entry.question))
        if word not in explained and word not in FORM_WORDS and _is_a_word(word)
    )
    columns = [
        f"{_questions(count)} went wrong for want of a note on {table}.{column}: say in the notes what it holds"
        for (table, column), count in needed.most_common(MISSING_SHOWN)
    ]
    terms = [
        f"{_questions(count)} went wrong for want of a meaning of {word!r}: no table, column, note or term has the word"
        for word, count in unknown.most_common(MISSING_SHOWN)
    ]
    return columns + terms


def _is_a_word(text: str) -> bool:
    """No number, and no single letter of a script that writes words in letters."""
    return not text.isdigit() and (len(text) > 1 or text >= UNSPACED)


def _columns(schema: Schema, sql: str) -> set[tuple[str, str]]:
    """The columns without a comment that a query uses, besides primary keys and those that join its tables."""
    shown = used(schema, [sql]).tables if sql else ()
    names = {table.name for table in shown}
    joining = {
        (table.name, name)
        for table in shown
        for key in table.foreign_keys
        if key.ref_table in names
        for name in key.columns
    }
    return {
        (table.name, column.name)
        for table in shown
        for column in table.columns
        if not column.comment and column.name not in table.primary_key
    } - joining


def _explained(known: Known, schema: Schema) -> Iterator[str]:
    """The words of names, comments, notes and terms."""
    for table in schema.tables:
        for text in (table.name, table.comment):
            yield from (*words(text), *content_words(text))
        for column in table.columns:
            for text in (column.name, column.comment):
                yield from (*words(text), *content_words(text))
    for term, meaning in (*known.notes.glossary, *known.notes.formulas):
        yield from (*content_words(term), *content_words(meaning))
    for item in known.notes.items:
        for text in (item.description, *item.synonyms, *(part for value in item.values for part in value)):
            yield from content_words(text)


def _questions(count: int) -> str:
    return f"{count} question{'' if count == 1 else 's'}"


def _text(proposal: Proposal, path: Path) -> str:
    """The text that a file would have so far; raises ``ProjectError`` if it cannot be read."""
    if path in proposal.texts:
        return proposal.texts[path]
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError):
        raise ProjectError(f"{path}: cannot be read as UTF-8 text; check it") from None


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _diff(path: Path, text: str, folder: Path) -> str:
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(_lines(old), _lines(text), f"a/{name}", f"b/{name}")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """The lines, each with an end."""
    return [line + "\n" for line in text.removesuffix("\n").split("\n")] if text else []
