"""Figures of the structure: files, lines, the longest function, the widest signature, import cycles.

    python benchmarks/house.py [SOURCE]      # default: src/sqljury

Lines are those of Python files, blank ones included. Signatures of commands (functions with ``typer`` options) are left
out. A cycle is a set of modules that import each other, imports inside functions included, those for type checkers not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "src" / "sqljury"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def modules() -> dict[str, ast.Module]:
    """The trees of all modules by dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("sqljury", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module, known: dict[str, ast.Module]) -> set[str]:
    """The modules of the project that a module imports at run time."""
    typing = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node not in typing and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqljury"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else str(node.module))
    return found & known.keys()


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Sets of more than one module that reach each other (Tarjan's strongly connected components, by reachability)."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen, waiting = set[str](), [start]
        while waiting:
            for name in graph[waiting.pop()] - seen:
                seen.add(name)
                waiting.append(name)
        reach[start] = seen
    found = {frozenset(b for b in reach[a] if a in reach[b]) | {a} for a in graph if a in reach[a]}
    return [sorted(names) for names in found if len(names) > 1]


def functions(trees: dict[str, ast.Module]) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function with the name of its module."""
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                yield name, node


def width(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters without ``self`` and ``cls``; 0 for commands."""
    if any("Option" in ast.dump(one.annotation) for one in node.args.args if one.annotation):
        return 0
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def main() -> None:
    """Print the figures."""
    trees = modules()
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py"))
    long = sorted(((node.end_lineno or 0) - node.lineno + 1, name, node.name) for name, node in functions(trees))[::-1]
    wide = sorted((width(node), name, node.name) for name, node in functions(trees))[::-1]
    print(f"files {len(trees)}, lines {lines:,}, modules at the root {len(list(SOURCE.glob('*.py')))}")
    print(f"pipeline.py {len((SOURCE / 'pipeline.py').read_text(encoding='utf-8').splitlines())} lines")
    print("longest functions:", *(f"{count} {name}.{function}" for count, name, function in long[:6]), sep="\n  ")
    print("widest signatures:", *(f"{count} {name}.{function}" for count, name, function in wide[:8]), sep="\n  ")
    found = cycles({name: imported(tree, trees) - {name} for name, tree in trees.items()})
    print("import cycles:", len(found), *(" <-> ".join(names) for names in found), sep="\n  ")


if __name__ == "__main__":
    main()
