"""Words of a question that may be values of the database, to look up in the value index (CHASE-SQL, section 3.2)."""

from __future__ import annotations

from typing import Final

from sqljury.language.words import JOINING, NOT_VALUES
from sqljury.patterns import regex

MAX_KEYWORDS: Final = 24
_LONGEST: Final = 3

_QUOTED: Final = regex(r"\"([^\"]{1,80})\"|“([^”]{1,80})”|‘([^’]{1,80})’|(?<!\w)'([^']{1,80})'(?!\w)|`([^`]{1,80})`")
WORD: Final = regex(r"[^\W_]+(?:[-'’&./][^\W_]+)*\.?")


def by_rules(question: str, most: int = MAX_KEYWORDS) -> tuple[str, ...]:
    """Keywords without a model: what is quoted, runs of capitalised words, then phrases of content words, long first.

    At most ``most``, each once whatever its case, in this order. Bare numbers are left out.
    """
    keywords: dict[str, str] = {}
    for keyword in (*quoted(question), *_names(question), *_phrases(question)):
        key = keyword.casefold()
        if key.strip("-.,/& ") and not key.isdecimal():
            keywords.setdefault(key, keyword)
    return tuple(keywords.values())[:most]


def quoted(question: str) -> list[str]:
    """What stands in quotation marks, in order."""
    return [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]


def _names(question: str) -> list[str]:
    """Runs of words with a capital or a digit, small joining words within; the first word of a sentence only in one."""
    runs, run = [], list[str]()
    for word, starts in _words(question):
        capital = word[0].isupper() or any(letter.isdigit() for letter in word)
        if (capital and not (starts and word.casefold() in NOT_VALUES)) or (run and word in JOINING):
            run.append(word)
        else:
            runs.append(run)
            run = []
    runs.append(run)
    return [name for run in runs for name in _parts(run)]


def _parts(run: list[str]) -> list[str]:
    """The whole run, and what stands between its joining words."""
    while run and run[-1] in JOINING:
        run.pop()
    pieces: list[list[str]] = [[]]
    for word in run:
        if word in JOINING:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return list(dict.fromkeys(" ".join(words) for words in (run, *pieces) if words))


def _phrases(question: str) -> list[str]:
    """Up to three neighbouring words of which none only asks, long phrases first."""
    words = [word for word, _ in _words(question)]
    runs, run = [], list[str]()
    for word in words:
        if word.casefold() in NOT_VALUES:
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
    words, begins = [], True
    for match in WORD.finditer(question):
        word = match[0]
        words.append((word.rstrip("."), begins))
        after = question[match.end() : match.end() + 1]
        begins = word.endswith(".") or after in ("?", "!", ":")
    return words
