"""The import graph: a module imports from lower layers only, and packages of one layer leave each other alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sqljury

SOURCE = Path(sqljury.__file__).parent
LAYERS = {
    0: ("errors", "types"),
    1: ("patterns", "prompts", "parallel", "budget", "resources", "traces"),
    2: ("language", "recipes"),
    3: ("sql",),
    4: ("llm", "sandbox", "db", "datasets"),
    5: ("access",),
    6: ("schema",),
    7: ("values", "project"),
    8: ("keys",),
    9: ("context",),
    10: ("testing",),
    11: ("metrics", "stages"),
    12: ("pipeline",),
    13: ("api", "engines"),
    14: ("evaluation",),
    15: ("bench", "check"),
    16: ("audit",),
    17: ("experiments", "train"),
    18: ("mcp", "web"),
    19: ("cli",),
    20: ("__main__", "notebook"),
}
LAYER = {name: layer for layer, names in LAYERS.items() for name in names}
WITHIN_ZERO = {("types", "errors")}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def part(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The parts of sqljury that a module imports at run time, inside functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "sqljury":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqljury."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("sqljury.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path: Path) -> None:
    own = part(path)
    assert own in LAYER, f"{own} has no layer; add it here and to the architecture"
    for other in imported(path) - {own}:
        allowed = LAYER[other] < LAYER[own] or (own, other) in WITHIN_ZERO
        assert allowed, f"{path.relative_to(SOURCE)} (layer {LAYER[own]}) imports {other} (layer {LAYER[other]})"


def test_public_names_are_sorted_and_there() -> None:
    assert sqljury.__all__ == sorted(sqljury.__all__)
    for name in sqljury.__all__:
        assert hasattr(sqljury, name), name


def test_import_is_light() -> None:
    """What a user's program pays for `import sqljury` and the command line for `--help`."""
    import subprocess
    import sys

    heavy = (
        "sqlglot",
        "xllamacpp",
        "openai",
        "anthropic",
        "google.genai",
        "pandas",
        "pyarrow",
        "huggingface_hub",
        "numpy",
    )
    heavy += (
        "rich",
        "sqlalchemy",
        "psycopg",
        "pymysql",
        "rapidfuzz",
        "tokenizers",
        "filelock",
        "sklearn",
        "scipy",
        "pydantic",
    )
    code = f"import sys, sqljury, sqljury.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
