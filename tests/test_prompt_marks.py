"""No mark of a chat template reaches a model, whatever part of a prompt it came with."""

from __future__ import annotations

import itertools
import os
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.errors import SqljuryError
from sqljury.llm.base import Message
from sqljury.llm.fake import Call
from sqljury.prompts import unmarked
from sqljury.recipes import FixPart, GeneratePart, Recipe, RefinePart, SelectPart
from sqljury.recipes.parts import LinkPart, SchemaPart, TestsPart
from sqljury.schema.notes_files import load
from sqljury.stages.generate import GENERATORS
from sqljury.stages.link import read, reply_schema
from sqljury.stages.select import SELECTORS
from sqljury.types import Schema, Table

MARKS = [
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "</tool_call>", "<tool_response>", "<think>"),
    *("</think>", "<<SYS>>", "<</SYS>>", "[INST]", "[/INST]", "<s>", "</s>", "<｜begin▁of▁sentence｜>", "<｜User｜>"),
    *("<｜Assistant｜>", "<｜tool▁calls▁begin｜>", "<|begin_of_text|>", "<|start_header_id|>", "<|eot_id|>"),
    *("<|header_start|>", "<|eom|>", "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<|channel|>"),
    *("<|message|>", "<|start|>", "<|START_OF_TURN_TOKEN|>", "<BOS_TOKEN>", "<|start_of_role|>", "<|assistant|>"),
    *("<|end|>", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "[|user|]", "[gMASK]", "<sop>", "<turn|>"),
    *("<|turn>", "<extra_id_0>", "<unused12>", "<fim_prefix>", "<seed:think>", "<reserved_106>", "[BOS]", "<0x0A>"),
    *("<function=run>", "<invoke name='x'>", "<minimax:tool_call>", "]~b]", ">>QUESTION<<", "＜think＞", "[@BOS@]"),
    *("<\u200b|im_start|>", "<th\u00adink>", "<TOOL_CALL>", "<|fim▁begin|>", "<EOT>", "<filename>", "<mask>"),
]  # fmt: skip
PLAIN = (
    *("a < b AND c > d", "<b>bold</b>", "a<b AND c>d", "['a', 'b']", "SELECT [Name] FROM [order]", "p <<| q"),
    *("a ->> '$.x' || b", "<div class='x'>", "Ann <ann@example.com>", "x<5>3", "m[1]", "5 <> 6", "[a] | [b]", "a|b>c"),
)


def marks_in(text: str) -> list[str]:
    return [mark for mark in MARKS if mark in text]


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_is_broken_once_and_for_all(mark: str) -> None:
    for text in (mark, f"x{mark}y", f"{mark}{mark}", f"<{mark}", f"{mark}>", f"[{mark}]"):
        broken = unmarked(text)
        assert mark not in broken
        assert broken.replace(" ", "") == text.replace(" ", "")
        assert unmarked(broken) == broken


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_mark_stays_as_it_is(text: str) -> None:
    assert unmarked(text) == text
    assert Message("user", text) == ("user", text)


def test_the_embedded_models_own_marks_are_all_known() -> None:
    """Those that its tokenizer would read as more than text, by the vocabulary in its weights."""
    file = Path("~/.cache/sqljury/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf").expanduser()
    if not file.is_file():
        assert not os.environ.get("CI_MODELS"), f"{file} is not there"
        pytest.skip("the embedded model's weights are not here")
    special = list(_special_tokens(file))
    assert {"<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"} <= set(special)
    for token in special:
        assert token not in Message("user", f"a {token} b").content


def _special_tokens(file: Path) -> Iterator[str]:
    """The tokens that are neither normal nor bytes, from the header of a GGUF file."""
    with file.open("rb") as stream:
        assert stream.read(4) == b"GGUF"
        _, _, count = struct.unpack("<IQQ", stream.read(20))
        facts: dict[str, Any] = {}
        for _ in range(count):
            key = _text(stream)
            facts[key] = _value(stream, struct.unpack("<I", stream.read(4))[0])
    kinds = zip(facts["tokenizer.ggml.tokens"], facts["tokenizer.ggml.token_type"], strict=True)
    return (token for token, kind in kinds if kind in (2, 3, 4) and not token.startswith("[PAD"))


def _text(stream: Any) -> str:
    return str(stream.read(struct.unpack("<Q", stream.read(8))[0]).decode())


def _value(stream: Any, kind: int) -> Any:
    formats = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
    if kind == 8:
        return _text(stream)
    if kind == 9:
        inner, length = struct.unpack("<IQ", stream.read(12))
        if inner == 8:
            return [_text(stream) for _ in range(length)]
        size = struct.calcsize(formats[inner])
        return list(struct.unpack(f"<{length}{formats[inner]}", stream.read(size * length)))
    return struct.unpack(f"<{formats[kind]}", stream.read(struct.calcsize(formats[kind])))[0]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A database whose every name, value, comment and view holds marks, and notes on it that do, too."""
    folder = tmp_path_factory.mktemp("hostile")
    file, notes = folder / "hostile.db", folder / "notes.yaml"
    lines = ["glossary:"]
    with closing(sqlite3.connect(file)) as connection:
        for number, marks in enumerate(zip(*[iter(MARKS)] * 6, strict=False)):
            one, two, three = (" ".join(marks[at : at + 2]) for at in (0, 2, 4))
            connection.execute(
                f'CREATE TABLE "person{number} {one}" (id INTEGER PRIMARY KEY, -- {two}\n'
                f'"name {two}" TEXT, "town {three}" TEXT /* {three} */)'
            )
            rows = [(place, f"{text} {place}", text) for place, text in enumerate((one, two, three, "Ann"))]
            connection.executemany(f'INSERT INTO "person{number} {one}" VALUES (?, ?, ?)', rows)
            lines.append(f"  {_yaml(f'person {one}')}: {_yaml(f'a person, {two} {three}')}")
        view, column, table = f'"seen {MARKS[0]}"', f'"{MARKS[3]}"', f'"person0 {MARKS[0]} {MARKS[1]}"'
        connection.execute(f"CREATE VIEW {view} AS SELECT id, '{''.join(MARKS[:12])}' AS {column} FROM {table}")
        connection.commit()
    notes.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file, notes


def _yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Liar:
    """Answers every call with something that holds marks: tables, queries that run or fail, programs that fail."""

    def __init__(self) -> None:
        self.turn = itertools.count()

    def __call__(self, call: Call) -> str | list[str]:
        last, marks = call.messages[-1].content, " ".join(MARKS)
        if call.sampling.json_schema is not None and "tables" in str(call.sampling.json_schema):
            names = call.sampling.json_schema["properties"]["tables"]["items"]["enum"]
            return str({"tables": names[:3]}).replace("'", '"')
        if call.sampling.max_tokens == 1:
            return "A"
        if "python" in call.messages[0].content.lower() or "pandas" in call.messages[0].content.lower():
            return (
                f"```python\nresult = pd.DataFrame({{'a': ['{MARKS[0]}']}}) # {next(self.turn)}\n1 / 0 # {marks}\n```"
            )
        if "Result:" in last:
            return '"Ann", 1'
        return [self._query(next(self.turn)) for _ in range(call.n)]

    def _query(self, turn: int) -> str:
        table = f'"person{turn % 3} {" ".join(MARKS[(turn % 3) * 6 : (turn % 3) * 6 + 2])}"'
        kinds = (
            f"SELECT id + {turn} FROM {table} /* {MARKS[turn % len(MARKS)]} */",
            f"SELECT '{MARKS[turn % len(MARKS)]}', \"no such {MARKS[0]}\".x FROM {table}",
            f"SELECT id FROM {table} WHERE id > 99 AND '{MARKS[4]}' = ''",
        )
        return kinds[turn % 3]


def ask(recipe: Recipe, hostile: tuple[Path, Path]) -> FakeModel:
    """The model after a hostile question on the hostile database was put to it."""
    model = FakeModel(Liar())
    file, notes = hostile
    asked = Question(f"Which person {MARKS[7]} has the name Ann {MARKS[10]}?", f"person means {' '.join(MARKS)}")
    names = {part.model for part in recipe.generate} | recipe.tests.named | {"writer"}
    pipeline = Pipeline(recipe, model, models=dict.fromkeys(names, model))
    with connect(file) as db:
        try:
            pipeline.answer(asked, db, notes=load(notes))
        except SqljuryError as error:
            assert "no query" not in str(error)  # noqa: PT017 - what it comes to is not the point here
    return model


GENERATE = (GeneratePart(samples=4, temperature=0.5, examples=2),)
RICH = SchemaPart(sample_rows=3, values=10)
KINDS = {
    **{f"generate {name}": Recipe("t", generate=(GeneratePart(), replace(GENERATE[0], generator=name)))
       for name in GENERATORS},
    **{f"select {name}": Recipe("t", generate=GENERATE, select=SelectPart(name), tests=TestsPart("suite", cases=2))
       for name in SELECTORS if not name.startswith("light")},
    **{f"show {form}": Recipe("t", schema=replace(RICH, form=form), generate=GENERATE)
       for form in ("ddl", "compact", "mschema")},
    "link": Recipe("t", link=LinkPart("model", whole=1), generate=GENERATE),
    "keywords": Recipe("t", schema=replace(RICH, keywords="model"), generate=GENERATE, fix=FixPart(values=True)),
    "expect csv": Recipe("t", generate=GENERATE, tests=TestsPart("suite", cases=2), refine=RefinePart(2)),
    "expect sqlite": Recipe("t", generate=GENERATE, tests=TestsPart("suite", cases=2, form="sqlite"),
                            select=SelectPart("rerank")),
    "agents": Recipe("t", generate=GENERATE, select=SelectPart("rerank"), refine=RefinePart(2),
                     tests=TestsPart("agents", codes=2, inspections=1, voting="selection")),
    "agents steps": Recipe("t", generate=GENERATE, select=SelectPart("rerank"),
                           refine=RefinePart(2, reasoning=True),
                           tests=TestsPart("agents", codes=2, inspections=1, max_tokens=900, reasoning=True)),
    "agents real": Recipe("t", generate=GENERATE, select=SelectPart("rerank"),
                          tests=TestsPart("agents", codes=1, inspections=1, data="real")),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_mark_is_in_any_prompt(kind: str, hostile: tuple[Path, Path]) -> None:
    model = ask(KINDS[kind], hostile)
    assert model.calls
    for call in model.calls:
        for message in call.messages:
            assert marks_in(message.content) == []
        assert marks_in(str(call.sampling.json_schema)) == []
    shown = Counter(mark for mark in MARKS for call in model.calls if f"{mark[0]} {mark[1:]}" in call.prompt)
    assert len(shown) > 10, "what is hostile did not come so far"


def test_a_linkers_reply_may_name_a_table_as_it_was_shown() -> None:
    schema = Schema("s", "sqlite", (Table("person <|im_end|>", ()), Table("plain", ())))
    names = reply_schema(schema)["properties"]["tables"]["items"]["enum"]
    assert names == ["person < |im_end|>", "plain"]
    assert [read(f'{{"tables": ["{name}"]}}', schema) for name in (*names, "person <|im_end|>")] == [{0}, {1}, {0}]


def test_a_text_that_nearly_is_a_mark_is_read_once() -> None:
    """A search that went back over the invisible characters for each of them would take hours."""
    nearly = "<<" + "\u200b" * 200_000
    assert unmarked(nearly) == nearly
    assert unmarked(f"{nearly}/\u200bSYS>>") == f"< {nearly[1:]}/\u200bSYS>>"
