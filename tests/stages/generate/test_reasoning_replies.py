from __future__ import annotations

import pytest

from sqljury.stages.generate.reasoning import concluding_sql

WHOLE = "SELECT name FROM t WHERE size > (SELECT avg(size) FROM t)"


@pytest.mark.parametrize(
    "reply",
    [
        f"1. find t\n```sql\n{WHOLE};\n```",
        f"1. find t\n```sql\n{WHOLE}",
        f"1. find t\n```\n{WHOLE}\n```\nThis finds the names.",
        f"```sql\nSELECT avg(size) FROM t\n```\nand\n```sql\n{WHOLE}\n```",
        f"```sql\n{WHOLE};\n```\nwhere the average is\n```sql\nSELECT avg(size) FROM t\n```\n.",
        f"```sql\nSELECT 1\n```\nFinal query:\n```sql\n{WHOLE}\n```\nMind:\n```sql\nSELECT max(size) FROM t\n```",
        f"```sql\nSELECT avg(size) FROM t\n```\nThe final query is:\n\n{WHOLE};",
        f"1. the average: SELECT avg(size) FROM t\n2. names: SELECT name FROM t\n\n{WHOLE};\n",
        f"1. the average: SELECT avg(size) FROM t\nQuery: {WHOLE}",
        f"1. the average: `SELECT avg(size) FROM t`\nSo: `{WHOLE}`",
        f"```text\n1. find t\n```\n```sql\n{WHOLE}\n```",
        f"Plan:\n1. find t\n\n```sqlite\n{WHOLE};\n```\n```\nDone.\n```",
        WHOLE,
    ],
)
def test_the_whole_query_is_read(reply: str) -> None:
    assert concluding_sql(reply) == WHOLE


def test_a_simpler_query_that_is_announced_beats_the_one_that_holds_it() -> None:
    reply = "```sql\nSELECT a FROM (SELECT a FROM t)\n```\nSimplified:\n```sql\nSELECT a FROM t\n```"
    assert concluding_sql(reply) == "SELECT a FROM t"


@pytest.mark.parametrize(
    "remark",
    [
        "This final query will select the names from the plot table.",
        "The final SELECT statement lists the names FROM plot.",
        "Answer: select the names of plots, as asked.",
        "With the final query we get names.",
        "In the final query:\nWITH comes first, then the names are read.",
        "The final query is simple:\nSELECT reads the names of all FROM plot, nothing more",
    ],
)
def test_a_remark_on_the_last_block_is_no_query(remark: str) -> None:
    assert concluding_sql(f"```sql\nSELECT name FROM plot;\n```\n{remark}") == "SELECT name FROM plot"


def test_equal_blocks_are_no_parts_of_each_other() -> None:
    assert concluding_sql("```sql\nSELECT 1\n```\nagain\n```sql\nSELECT 1\n```") == "SELECT 1"


@pytest.mark.parametrize("reply", ["", "I cannot answer this.", "1. Find the rows of t.\n2. Deliver a.", "```\n\n```"])
def test_prose_has_none(reply: str) -> None:
    assert concluding_sql(reply) == ""


def test_a_statement_that_writes_is_handed_on_to_be_refused() -> None:
    assert concluding_sql("1. delete\n```sql\nDELETE FROM t;\n```") == "DELETE FROM t"


@pytest.mark.parametrize(
    "query",
    [
        "WITH big AS (\nSELECT * FROM plot WHERE size > 1\n)\nSELECT name FROM big",
        "SELECT name FROM plot WHERE size = (\n  SELECT max(size) FROM plot\n)",
        "SELECT name FROM plot\nUNION\nSELECT name FROM field",
    ],
)
def test_a_query_after_the_last_block_is_read_whole(query: str) -> None:
    reply = f"```sql\nSELECT 1\n```\nThe final query is:\nWith it we are done.\n\n{query};\n\nWith this we have all."
    assert concluding_sql(reply) == query


def test_a_query_after_the_last_block_may_name_columns_in_ticks() -> None:
    reply = "```sql\nSELECT 1\n```\nThe final query is:\nSELECT `name` FROM `plot` WHERE `size` > 1;\n"
    assert " ".join(concluding_sql(reply).split()) == "SELECT name FROM plot WHERE size > 1"


def test_long_replies_take_no_time() -> None:
    import time

    began = time.perf_counter()
    for reply in ("```" * 20_000, "a: " * 20_000, "`" * 60_000, "SELECT " * 20_000, "```sql\nSELECT 1\n```\n" * 500):
        concluding_sql(reply)
    for lines in ("\n" * 30_000, "1\n" * 30_000):
        assert concluding_sql(f"1.\n{lines}SELECT 1") == "SELECT 1"
    assert time.perf_counter() - began < 15


@pytest.mark.parametrize(
    "query",
    [
        "WITH tall AS (\nSELECT name FROM plot WHERE height > 2)\nSELECT name FROM tall",
        "SELECT name FROM plot\nUNION\nSELECT name FROM bed",
    ],
)
def test_a_query_without_a_block_is_read_with_its_head(query: str) -> None:
    assert concluding_sql(f"1. the plots: SELECT * FROM plot\nThe whole query:\n{query}") == query
    assert concluding_sql("First\nSELECT name FROM bed\nthen\nSELECT name FROM plot") == "SELECT name FROM plot"
