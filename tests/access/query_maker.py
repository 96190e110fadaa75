"""Makes queries by chance that mostly compile: names are drawn from what is in scope, hidden ones among them."""

from __future__ import annotations

import random

TABLES = {
    "customer": ("id", "name", "city", "ssn", '"Credit Card"', "rowid"),
    "account": ("code", "owner", "balance", "rowid"),
    "secret": ("val",),
    "orders": ("id", "customer_id", "total", "note"),
    "pet": ("id", "name", "ssn"),
    "open_view": ("name", "city"),
    "renamed": ("x",),
}
SAFE = ("customer", "customer", "customer", "orders", "pet", "pet", "open_view", "account")
ALIASES = ("a", "b", "t", "ssn", "pet", "secret", "customer", "name")

Scope = list[tuple[str, tuple[str, ...]]]


class Maker:
    """One query; hidden columns are drawn with probability ``boldness``."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.boldness = self.chance.choice((0.0, 0.02, 0.15))
        self.ctes: dict[str, tuple[str, ...]] = {}

    def query(self, depth: int = 3, outer: Scope | None = None) -> str:
        """A SELECT, maybe with CTEs, maybe a set operation."""
        if depth > 1 and self.chance.random() < 0.2:
            name = self.chance.choice(ALIASES)
            kind = self.chance.choice(("", "", " RECURSIVE"))
            body, columns = self.select(depth - 1, outer or [])
            self.ctes[name] = columns
            return f"WITH{kind} {name} AS ({body}) {self.select(depth - 1, outer or [])[0]}"
        return self.select(depth, outer or [])[0]

    def select(self, depth: int, outer: Scope) -> tuple[str, tuple[str, ...]]:
        """A SELECT and the names of its columns."""
        scope: Scope = []
        sources = self.source(depth, scope)
        around = scope + outer
        items, names = [], []
        for number in range(self.chance.randint(1, 2)):
            value = self.value(depth, around)
            if self.chance.random() < 0.3:
                names.append(self.chance.choice(("x", "ssn", "name", f"c{number}")))
                value = f"{value} AS {names[-1]}"
            elif value.replace(".", "").isidentifier():
                names.append(value.split(".")[-1])
            items.append(value)
        if self.chance.random() < 0.08:
            items.append(self.chance.choice(("*", f"{scope[0][0]}.*", scope[0][0])))
        text = f"SELECT {', '.join(items)} FROM {sources}"
        if self.chance.random() < 0.4:
            text += f" WHERE {self.value(depth, around)} {self.chance.choice(('=', '<', 'IS NOT', 'LIKE'))} 'x'"
        if self.chance.random() < 0.15:
            text += f" GROUP BY {self.value(0, around)} HAVING count({self.value(0, around)}) > 0"
        if self.chance.random() < 0.25:
            text += f" ORDER BY {self.value(depth, around)}"
        return text, tuple(names) or ("x",)

    def source(self, depth: int, scope: Scope) -> str:
        """A FROM clause, its sources added to the scope."""
        text = self.item(depth, scope)
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            join = self.chance.choice((",", "JOIN", "JOIN", "LEFT JOIN", "NATURAL JOIN"))
            text += f" {join} {self.item(depth, scope)}"
            if join.endswith("JOIN") and join != "NATURAL JOIN":
                using = self.chance.random() < 0.2
                text += " USING (name)" if using else f" ON {self.value(depth, scope)} = {self.value(0, scope)}"
        return text

    def item(self, depth: int, scope: Scope) -> str:
        if depth > 0 and self.chance.random() < 0.25:
            text, columns = self.select(depth - 1, [])
            alias = self.chance.choice(ALIASES)
            scope.append((alias, columns))
            return f"({text}) AS {alias}"
        if depth > 0 and self.chance.random() < 0.08:
            return f"({self.source(depth - 1, scope)})"
        names = list(self.ctes) * 2 + list(SAFE)
        name = self.chance.choice(list(TABLES) if self.chance.random() < self.boldness else names)
        columns = self.ctes.get(name) or TABLES.get(name, ("x",))
        if self.chance.random() < 0.6:
            alias = self.chance.choice(ALIASES)
            scope.append((alias, columns))
            return f"{name} AS {alias}"
        scope.append((name, columns))
        return name

    def value(self, depth: int, scope: Scope) -> str:
        """An expression over what is in scope."""
        roll = self.chance.random()
        if depth > 0 and roll < 0.08:
            return f"({self.select(depth - 1, scope)[0]})"
        if depth > 0 and roll < 0.14:
            return f"EXISTS ({self.query(depth - 1, scope)})"
        if roll < 0.2:
            return f"max({self.value(0, scope)} -> '$', {self.value(0, scope)})"
        if roll < 0.28:
            return f"upper({self.value(depth - 1, scope)})"
        return self.column(scope)

    def column(self, scope: Scope) -> str:
        if not scope:
            return "1"
        alias, columns = self.chance.choice(scope)
        hidden = {"ssn", '"Credit Card"', "code", "val", "rowid"}
        bold = self.chance.random() < self.boldness
        plain = columns if bold else [column for column in columns if column not in hidden] or ["1"]
        if self.chance.random() < 0.15 and any("ssn" in names for _, names in scope) and alias in ("pet", "b"):
            plain = ["ssn"]
        name = self.chance.choice(list(plain))
        return name if name == "1" or self.chance.random() < 0.5 else f"{alias}.{name}"
