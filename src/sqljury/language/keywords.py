"""Words of a question that may be values of the database, to look up in the value index (CHASE-SQL, section 3.1)."""

from __future__ import annotations

import re
from typing import Final

MAX_KEYWORDS: Final = 24
_LONGEST: Final = 3

_QUOTED: Final = re.compile(
    r"\"([^\"]{1,80})\"|“([^”]{1,80})”|‘([^’]{1,80})’|(?<!\w)'([^']{1,80})'(?!\w)|`([^`]{1,80})`"
)
WORD: Final = re.compile(r"[^\W_]+(?:[-'’&./][^\W_]+)*\.?")
_JOINING_WORDS: Final = "of the de la le di da del der von van and & for in on at"
_ASKING_WORDS: Final = """
    a about above across after all alphabetical alphabetically also among an and any are aren't as ascending at
    average be been before being below between both but by can contain contains corresponding could count descending
    did didn't different distinct do does doesn't don't down during each either ever every exactly fewer fewest find
    first for from get give greater greatest had has hasn't have haven't having he her high higher highest him his how
    i identify if in include including into is isn't it its itself know large larger largest last least less let list
    low lowest many maximum me mean minimum more most much must my name names no not number numbers of on once one
    only or order ordered other our out over own per please report respectively result return same select she should
    show shows since smallest so some sort sorted such sum tell than that the their them then there these they this
    those through to top total two under up us use using value values was wasn't we were weren't what when where
    whether which while who whose why with within without would you your
"""
_JOINING: Final = frozenset(_JOINING_WORDS.split())
_STOP: Final = frozenset(_ASKING_WORDS.split())


def by_rules(question: str, most: int = MAX_KEYWORDS) -> tuple[str, ...]:
    """Keywords without a model: what is quoted, runs of capitalised words, then phrases of content words, long first.

    At most ``most``, each once whatever its case, in this order. Bare numbers are left out.
    """
    found: dict[str, str] = {}
    for keyword in (*quoted(question), *_names(question), *_phrases(question)):
        key = keyword.casefold()
        if key.strip("-.,/& ") and not key.isdecimal():
            found.setdefault(key, keyword)
    return tuple(found.values())[:most]


def quoted(question: str) -> list[str]:
    """What stands in quotation marks, in order."""
    return [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]


def _names(question: str) -> list[str]:
    """Runs of words with a capital or a digit, small joining words within; the first word of a sentence only in one."""
    found, run = [], list[str]()
    for word, starts in _words(question):
        capital = word[0].isupper() or any(letter.isdigit() for letter in word)
        if (capital and not (starts and word.casefold() in _STOP)) or (run and word in _JOINING):
            run.append(word)
        else:
            found.append(run)
            run = []
    found.append(run)
    return [name for run in found for name in _parts(run)]


def _parts(run: list[str]) -> list[str]:
    """The whole run, and what stands between its joining words."""
    while run and run[-1] in _JOINING:
        run.pop()
    pieces: list[list[str]] = [[]]
    for word in run:
        if word in _JOINING:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return list(dict.fromkeys(" ".join(words) for words in (run, *pieces) if words))


def _phrases(question: str) -> list[str]:
    """Up to three neighbouring words of which none only asks, long phrases first."""
    words = [word for word, _ in _words(question)]
    runs, run = [], list[str]()
    for word in words:
        if word.casefold() in _STOP:
            runs.append(run)
            run = []
        else:
            run.append(word)
    runs.append(run)
    return [
        " ".join(run[start : start + length])
        for length in range(_LONGEST, 0, -1)
        for run in runs
        for start in range(len(run) - length + 1)
    ]


def _words(question: str) -> list[tuple[str, bool]]:
    """The words, and whether each begins a sentence."""
    found, begins = [], True
    for match in WORD.finditer(question):
        word = match[0]
        found.append((word.rstrip("."), begins))
        after = question[match.end() : match.end() + 1]
        begins = word.endswith(".") or after in ("?", "!", ":")
    return found
