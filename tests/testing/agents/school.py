"""Programs and queries for the school of these tests."""

from __future__ import annotations

from sqljury.budget import Budget
from sqljury.context import Context
from sqljury.types import Cost

QUERIES = (
    "SELECT pupil.name FROM pupil JOIN club ON pupil.club = club.id WHERE club.name = 'Chess' AND age > 11",
    "SELECT pupil.name FROM pupil JOIN club ON pupil.club = club.id WHERE club.name = 'Chess' AND age >= 11",
)

RIGHT = """```python
# the pupils of the club
both = pupil.merge(club, left_on='club', right_on='id', suffixes=('', '_club'))
result = both[(both['name_club'] == 'Chess') & (both['age'] > 11)][['name']]
```"""
WRONG = RIGHT.replace("> 11", ">= 11")
BROKEN = RIGHT.replace("[['name']]", "[['first_name']]")
EMPTY = RIGHT.replace("Chess", "chess club")

DATA = """```python
club = pd.DataFrame({'id': [1, 2], 'name': ['Chess', 'Judo'], 'town': ['Bath', 'Ely']})
pupil = pd.DataFrame({
    'id': [1, 2, 3, 4],
    'name': ['Ann', 'Bob', 'Cy', 'Di'],
    'age': [12, 11, 13, 15],
    'born': pd.to_datetime(['2012-01-05', '2013-02-28', None, '2009-12-31']),
    'club': [1, 1, 1, 2],
})
```"""
NO_EDGE = DATA.replace("[12, 11, 13, 15]", "[12, 9, 13, 15]")


class CallBudget(Budget):
    """Exhausted after so many calls."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._calls = calls

    def exhausted(self) -> bool:
        return sum(cost.calls for _, cost in self.steps) >= self._calls


def cost(context: Context) -> Cost:
    """What the context's budget was charged."""
    return sum((cost for _, cost in context.budget.steps), Cost())
