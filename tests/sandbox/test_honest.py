"""Programs as a model writes them work behind the walls, and the table comes back as plain cells."""

from __future__ import annotations

import datetime
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from sqljury.sandbox import Sandbox, SandboxLimits, run

FRAMES = {
    "sales": pa.table(
        {
            "shop": ["Bath", "York", "Bath", None],
            "day": ["2024-01-31", "2024-02-01", "2024-02-29", "2024-03-01"],
            "amount": [10, 20, 35, 5],
        }
    ),
    "shops": pa.table({"shop": ["Bath", "York", "Ely"], "area": [1.5, 2.25, 3.0]}),
}

PROGRAMS = [
    ("result = sales.groupby('shop', as_index=False)['amount'].sum()", [("Bath", 45), ("York", 20)]),
    ("result = sales.groupby('shop')['amount'].agg(['sum', 'count'])", [("Bath", 45, 2), ("York", 20, 1)]),
    (
        "result = sales.merge(shops, on='shop', how='inner')[['amount', 'area']].sort_values('amount')",
        [(10, 1.5), (20, 2.25), (35, 1.5)],
    ),
    (
        "result = shops[~shops['shop'].isin(sales['shop'])]",
        [("Ely", 3.0)],
    ),
    (
        "sales['month'] = pd.to_datetime(sales['day']).dt.month\n"
        "result = sales.pivot_table(index='shop', columns='month', values='amount', aggfunc='sum')",
        [("Bath", 10.0, 35.0), ("York", None, 20.0)],
    ),
    (
        "result = pd.to_datetime(sales['day']).dt.strftime('%Y-%m').value_counts().sort_index()",
        [("2024-01", 1), ("2024-02", 2), ("2024-03", 1)],
    ),
    ("result = pd.to_datetime(sales['day']).max()", [("2024-03-01 00:00:00",)]),
    ("result = sales['amount'].mean()", [(17.5,)]),
    ("result = len(tables['sales'])", [(4,)]),
    ("result = sales.query('amount > 15 and shop == \"Bath\"')[['day']]", [("2024-02-29",)]),
    ("result = sales.eval('amount * 2').head(1)", [(20,)]),
    ("result = pd.concat([sales['shop'], shops['shop']]).dropna().drop_duplicates()", [("Bath",), ("York",), ("Ely",)]),
    ("result = sales['shop'].str.upper().str.contains('BA', na=False)", [(True,), (False,), (True,), (False,)]),
    ("result = np.where(sales['amount'] > 10, 'big', 'small')", [("small",), ("big",), ("big",), ("small",)]),
    ("result = sales['shop'].astype('category').dropna().head(1)", [("Bath",)]),
    ("result = pd.cut(sales['amount'], [0, 10, 40]).head(1)", [("(0, 10]",)]),
    ("result = pd.to_datetime(sales['day']).dt.to_period('M').head(1)", [("2024-01",)]),
    ("result = {'a': [1, 2], 'b': ['x', None]}", [(1, "x"), (2, None)]),
    ("import datetime\nresult = [datetime.date(2024, 1, 31)]", [("2024-01-31",)]),
    ("from decimal import Decimal\nresult = [Decimal('1.50'), Decimal('2.00')]", [(1.5,), (2.0,)]),
    ("result = sales.rolling(2, on='amount')['amount'].sum().dropna()", [(30.0,), (55.0,), (40.0,)]),
    ("result = sales['amount'].rank(method='dense').astype(int)", [(2,), (3,), (4,), (1,)]),
    ("import re, math, json, statistics\nresult = math.floor(statistics.mean(sales['amount']))", [(17,)]),
    (
        "result = pd.Timestamp('2024-01-01 12:00', tz='Europe/Paris').tz_convert('Asia/Tokyo').hour",
        [(20,)],
    ),
]


@pytest.mark.parametrize(("code", "rows"), PROGRAMS, ids=[code.splitlines()[-1][:50] for code, _ in PROGRAMS])
def test_honest_programs(sandbox: Sandbox, code: str, rows: list[tuple[object, ...]]) -> None:
    found = sandbox.run(code, FRAMES)
    assert (found.kind, found.result.error) == ("ok", None)
    assert list(found.result.rows) == rows


def test_names_of_columns(sandbox: Sandbox) -> None:
    found = sandbox.run("result = sales.groupby('shop').agg({'amount': ['sum', 'max']})", FRAMES)
    assert found.result.columns == ("shop", "amount_sum", "amount_max")


def test_what_is_printed_comes_back_cut(sandbox: Sandbox) -> None:
    limits = SandboxLimits(printed=10)
    found = sandbox.run("print('é' * 1000); result = 1", limits=limits)
    assert (found.stdout, found.ok) == ("é" * 10, True)


def test_rows_are_cut_and_it_is_said(sandbox: Sandbox) -> None:
    found = sandbox.run("result = pd.DataFrame({'n': range(1000)})", limits=SandboxLimits(rows=3))
    assert (found.result.rows, found.result.truncated) == (((0,), (1,), (2,)), True)
    exact = sandbox.run("result = pd.DataFrame({'n': range(3)})", limits=SandboxLimits(rows=3))
    assert (len(exact.result.rows), exact.result.truncated) == (3, False)
    wide = sandbox.run("result = pd.DataFrame([[1, 2, 3]] * 1000)", limits=SandboxLimits(cells=9))
    assert (wide.result.rows, wide.result.truncated) == (((1, 2, 3),) * 3, True)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\nresult = x / 0", "line 2: ZeroDivisionError: division by zero"),
        ("result = (", "line 1: SyntaxError: '(' was never closed"),
        ("pass", "NoTableError: the code does not set `result`"),
        ("result = sales['nothing']", "line 1: KeyError: 'nothing'"),
        ("import sqlalchemy", "line 1: ModuleNotFoundError: No module named 'sqlalchemy'"),
        ("raise ValueError('two\\nlines')", "line 1: ValueError: two lines"),
    ],
)
def test_errors_are_one_line_with_the_place(sandbox: Sandbox, code: str, error: str) -> None:
    found = sandbox.run(code, FRAMES)
    assert (found.kind, str(found.result.error)) == ("code", error)


def test_runs_do_not_see_each_other(sandbox: Sandbox) -> None:
    sandbox.run("import builtins; builtins.left = 1; pd.DataFrame.sum = None; result = 1")
    found = sandbox.run("import builtins; result = [hasattr(builtins, 'left'), pd.DataFrame.sum is None]")
    assert found.result.rows == ((False,), (False,))


def test_many_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: sandbox.run(f"result = {n}").result.rows, range(32)))
    assert found == [((n,),) for n in range(32)]


def test_chance_is_the_same_in_every_run(sandbox: Sandbox) -> None:
    code = "import random; result = [random.random(), np.random.rand(), hash('a')]"
    assert sandbox.run(code).result.rows == sandbox.run(code).result.rows


def test_large_frames_go_in(sandbox: Sandbox) -> None:
    many = pa.table({"n": range(500_000)})
    assert sandbox.run("result = int(many['n'].sum())", {"many": many}).result.rows == ((124_999_750_000,),)


def test_one_run_without_a_sandbox_kept() -> None:
    found = run("result = sales['amount'].sum()", FRAMES)
    assert found.result.rows == ((70,),)


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"SandboxLimits.memory is 0; it must be more than 0"):
        SandboxLimits(memory=0)


def test_today_is_known(sandbox: Sandbox) -> None:
    found = sandbox.run("import datetime; result = datetime.date.today().year")
    assert found.result.rows == ((datetime.datetime.now(datetime.UTC).year,),)
