"""The best of each that an English question asks for: "which driver made the most trips at each depot"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqljury.language.cues import BOUND
from sqljury.language.words import NUMBER_WORDS, words
from sqljury.patterns import regex

_UP: Final = (
    r"(?<!at )(?<!at the )most(?:-\w+)?(?! (?:of|likely)\b)|highest(?:-\w+)?|largest|biggest|greatest|longest|heaviest"
    r"|best(?:-\w+)?|bestseller|strongest|top(?:-\w+)?|busiest|dearest|costliest|priciest"
)
_DOWN: Final = r"(?<!at )(?<!at the )least(?:-\w+)?|fewest|lowest(?:-\w+)?|smallest|shortest|lightest|cheapest"
_EITHER: Final = "worst|weakest|fastest|slowest|quickest"
"""Words for the greatest of one thing and the smallest of another."""
_OF_ONE: Final = (
    "oldest|youngest|latest|newest|earliest|tallest|deepest|closest|nearest|richest|max|maximum|min|minimum"
)
"""Words that hold of single rows, not of what is counted or added up."""
_SUPERLATIVE: Final = rf"(?:{_UP}|{_DOWN}|{_EITHER}|{_OF_ONE})"
_SORTED: Final = regex(
    rf"\b{_SUPERLATIVE}\b(?: [\w'-]+){{0,3}}? (?:first|(?:on|at|from)(?: the)? top)\b|\b(?:on|at|from)(?: the)? top\b",
    re.IGNORECASE,
)
_SPLIT: Final = regex(r"[.?!;:](?=\s|$)|\s[-–—]\s")
_EACH: Final = regex(
    r"(?:\b(?:for|in|of|from|within|at|on|by|to|during) )?\b(?:each|every|per(?! ?cent\b)|for all)\s+"
    r"(?:(?:of|the|our|its|their|single)\s+)*(?P<words>[\w-]+(?: [\w-]+){0,4})",
    re.IGNORECASE,
)
_OWNER: Final = regex(r"^['’]s\b")
_OWNED: Final = regex(rf"['’]s (?:single )?{_SUPERLATIVE}\b", re.IGNORECASE)
_GOES_ON: Final = regex(r"\s*(?:how|what|who|its|their|the|by|show|give)\b", re.IGNORECASE)
"""What follows "and" where it does not go on with what "each" is said of."""
_STOPS: Final = regex(
    rf"{BOUND.pattern}|\b(?:the|an?|and|or|over|during|across|since|after|before|between|until|according|going|judged"
    rf"|measured|based|than|more|less|fewer|{_SUPERLATIVE})\b",
    re.IGNORECASE,
)
_PHRASE: Final = 3
"""The most words that name what "each" is said of."""

_QUALITY: Final = rf"(?!(?:most|fewest|least)\b(?!-)){_SUPERLATIVE}"
"""Superlatives of things, not of how many there are."""
_NUMBERS: Final = rf"(?:[2-9]|\d\d|{'|'.join(NUMBER_WORDS[2:])}|few|several)\b"
_SEVERAL: Final = regex(
    rf"\b(?:(?:which|what|the|our|first|last|{_SUPERLATIVE})[ -]{_NUMBERS}|{_NUMBERS} {_SUPERLATIVE}\b)"
    rf"|\b(?:are|were|the|our) {_QUALITY}(?: \w+)? \w+[^su\W]s(?=[,:]|$| (?:of|in|for|at|from|per|within|on|by)\b)"
    rf"|\b{_QUALITY} \w+[^su\W]s(?=[,:]|$| (?:of|in|for|at|from|per|within|on|by)\b)"
    r"|\b(?:which|what) [\w-]+s (?:sell|sold|are|were|have|had|do|did|earn|cost|bring)\b"
    r"|\bmost (?:important|relevant|useful|interesting)\b|\b(?:figures|results)\b",
    re.IGNORECASE,
)
"""Several of each are asked for, if only by "the best customers"."""
_FIGURE: Final = regex(
    r"\b(?:how (?:many|much|often|long)|numbers? of|averages?|mean|totals?|sum|share|percent\w*)\b", re.IGNORECASE
)
_ASIDE: Final = regex(
    r"\b(?:in|during|on|at|from|of|for|by|than) (?:the|its|their) (?:[\w-]+ ){1,3}(?:with|having|that|who|which)\b"
    r"[^,]*$",
    re.IGNORECASE,
)
_OF_THE: Final = regex(
    r"\b(?:(?<!brought )(?<!put )(?<!took )in|during|on|at|from|of|for|by|than) (?:the|its|their) (?:[\w-]+ )?$",
    re.IGNORECASE,
)
_BARE: Final = frozenset(("most", "fewest", "least"))
"""Words of a number: an actor "in the most films" has played in many."""
_ASKED: Final = regex(
    r"^(?:[^,]{0,80},\s*)??(?:and )?"
    r"(?:(?:please )?(?:show|give|list|find|name|tell|get|identify)\b(?: me| us| out)* )?"
    r"(?:(?:(?:the|our|its|their|single) )*"
    r"|(?:the |our )?(?:[\w'-]+ ){1,3}?(?:with|having|who|that|which)\b[^,]*"
    r"|(?:which|who|what(?! (?:is|are|was|were|did|does|do|has|have|had)\b))\b.*"
    r"|what(?: is| are| was| were|['’]s) (?:(?:the|our|single) )*"
    r")$",
    re.IGNORECASE,
)
"""What stands before the superlative, without "for each ...", where it chooses what is asked for."""
_AMOUNTS: Final = regex(
    r"(?:longest|shortest|heaviest|lightest|cheapest|dearest|costliest|priciest)"
    r"|most (?:valuable|expensive|costly|lucrative|profitable)",
    re.IGNORECASE,
)
_NOT_ADDED: Final = regex(r"most (?:recent|experienced|senior|modern|northern|southern|eastern|western)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BestOfEach:
    """What a question says that asks for the best of each.

    ``each``: readings of the words for the groups, the likeliest first, in the form of ``words``. ``superlative``: its
    first word in lower case. ``descending``: whether the greatest is meant; None where that depends on what is
    compared. ``of_amounts``: whether a number of rows cannot be meant ("longest"). ``after``: words after it.
    """

    each: tuple[tuple[str, ...], ...]
    superlative: str
    descending: bool | None
    of_amounts: bool
    after: tuple[str, ...]


def wanted_best(question: str) -> BestOfEach | None:
    """What is asked for if it is the best of each; None if that is not certain, or if several of each are."""
    unsorted = _SORTED.sub("", question)
    if len(re.findall(rf"\b{_SUPERLATIVE}\b", unsorted, re.IGNORECASE)) != 1 or len(_EACH.findall(unsorted)) != 1:
        return None
    return next(filter(None, map(_read, _SPLIT.split(unsorted))), None)


_OF_ALL: Final = regex(
    r"\b(?:overall|altogether|of all|among all|all-time|ever|anywhere|in total|company-?wide)\b", re.IGNORECASE
)


def said_of_each(question: str) -> tuple[tuple[str, ...], ...]:
    """What one of each is asked for, as in "for every category": readings of the words, the likeliest first.

    None where the question has several such words, none, or says that the best of all is meant.
    """
    matches = list(_EACH.finditer(question))
    if len(matches) != 1 or matches[0][0].lower().startswith("for all") or _OF_ALL.search(question):
        return ()
    sentences = _SPLIT.split(question)
    return next((_readings(part, each) for part in sentences if (each := _EACH.search(part)) is not None), ())


_OF_ROWS: Final = regex(
    r"(?:(?:most|least) (?!of\b|likely\b)(?:\w+ly )?[\w-]+"
    r"|(?:highest|lowest|best|worst|top|least|most)[ -](?:paid|priced|rated|ranked|scoring|scored|earning|salaried)"
    r"|cheapest|dearest|costliest|priciest|largest|biggest|greatest|smallest|longest|shortest|heaviest|lightest"
    r"|strongest|fastest|slowest|oldest|youngest|latest|newest|earliest|tallest|deepest|richest) "
    r"(?P<words>[\w-]+(?: [\w-]+){0,5})(?![\w'’-])",
    re.IGNORECASE,
)
"""Superlatives of a single row, with the words after it."""
_UP_OF_ONE: Final = regex(r"(?:tallest|deepest|richest|most)\b", re.IGNORECASE)
_NAMES_OF: Final = regex(
    r"\b(?:the )?(?:names?|titles?)(?:,? (?:and|with) (?:the |its |their )?[\w-]+(?: [\w-]+)?)? of (?=the\b)",
    re.IGNORECASE,
)
_MEASURED: Final = regex(r"\b(?:costs?|worth|priced|weighs?|lasts?|prices? of|value of|age of|how)\b", re.IGNORECASE)
_AFTER_THING: Final = frozenset(words("in of for per by from at on within and that which who is was are with to"))
"""Words that may follow the word for a row: after other ones it may say whose measure is meant, as "product price"."""


@dataclass(frozen=True, slots=True)
class BestRow:
    """What a question says that asks for one row of each: "the most expensive product in each category".

    ``each`` and ``descending`` are as in ``BestOfEach``. ``thing``: the words for the row and some after
    it, in the form of ``words``.
    """

    each: tuple[tuple[str, ...], ...]
    descending: bool | None
    thing: tuple[str, ...]

    def is_of(self, name: tuple[str, ...]) -> bool:
        """Whether the row is one of a table with this name, and nothing of that row is asked for in its place."""
        rest = self.thing[len(name) :]
        return bool(name) and self.thing[: len(name)] == name and (not rest or rest[0] in _AFTER_THING)


def wanted_row(question: str) -> BestRow | None:
    """What is asked for if it is the best row of each by a number of its own; None if that is not certain.

    Not where a number is asked for, such as the price of the most expensive product, nor for several rows of each.
    """
    unsorted = _SORTED.sub("", question)
    if len(re.findall(rf"\b{_SUPERLATIVE}\b", unsorted, re.IGNORECASE)) != 1 or len(_EACH.findall(unsorted)) != 1:
        return None
    return next(filter(None, map(_read_row, _SPLIT.split(unsorted))), None)


def _read_row(sentence: str) -> BestRow | None:
    named = _NAMES_OF.sub("", sentence)
    each, best = _EACH.search(named), re.search(rf"\b{_SUPERLATIVE}\b", named, re.IGNORECASE)
    if each is None or best is None or _SEVERAL.search(named) or not _chooses(named, each, best):
        return None
    superlative, readings = _OF_ROWS.match(named, best.start()), _readings(named, each)
    if superlative is None or not readings or _MEASURED.search(named):
        return None
    return BestRow(each=readings, descending=_end(superlative[0]), thing=words(superlative["words"]))


def _end(superlative: str) -> bool | None:
    """Whether the greatest is meant; None where that depends on what is compared."""
    if _UP_OF_ONE.match(superlative):
        return True
    if re.match(rf"(?:{_EITHER}|{_OF_ONE}|best)\b", superlative, re.IGNORECASE):
        return None
    return re.match(_UP, superlative, re.IGNORECASE) is not None


def _read(sentence: str) -> BestOfEach | None:
    each, best = _EACH.search(sentence), re.search(rf"\b{_SUPERLATIVE}\b", sentence, re.IGNORECASE)
    if each is None or best is None or _SEVERAL.search(sentence) or not _chooses(sentence, each, best):
        return None
    word, tail = best[0].lower(), sentence[best.start() :]
    readings = _readings(sentence, each)
    if re.fullmatch(_OF_ONE, word) or _NOT_ADDED.match(tail) or not readings:
        return None
    return BestOfEach(
        each=readings,
        superlative=word,
        descending=None if re.fullmatch(_EITHER, word) else re.match(_UP, tail, re.IGNORECASE) is not None,
        of_amounts=_AMOUNTS.match(tail) is not None,
        after=words(sentence[best.end() :])[:3],
    )


def _chooses(sentence: str, each: re.Match[str], best: re.Match[str]) -> bool:
    """Whether the superlative says which one is asked for: not "how many in the month with the most sales"."""
    start = each.start("words") + len(" ".join(_named(each)))
    if start <= best.start():
        before = f"{sentence[: each.start()]}{_OWNER.sub('', sentence[start : best.start()])}"
    else:
        before = sentence[: best.start()]
    before = re.sub(r"\s+", " ", before).lstrip(" ,")
    if _FIGURE.search(before) or _ASIDE.search(before):
        return False
    of_the = _OF_THE.search(before)
    if of_the is not None and (best[0].lower() not in _BARE or of_the[0].lower().startswith(("of", "than"))):
        return False
    return _ASKED.match(before) is not None


def _named(each: re.Match[str]) -> list[str]:
    """The words after "each" up to one that ends what it is said of."""
    return _STOPS.split(each["words"], maxsplit=1)[0].split()


def _readings(sentence: str, each: re.Match[str]) -> tuple[tuple[str, ...], ...]:
    """What "each" may be said of: all words up to a bound, or the last, or those before a verb."""
    named, after = _named(each), sentence[each.end() :]
    stopped = _STOPS.search(each["words"])
    stop = "" if stopped is None else stopped[0].lower()
    if stopped is not None and stop in ("and", "or") and not _GOES_ON.match(each["words"], stopped.end()):
        return ()
    if not stop and _OWNER.match(after) and not _OWNED.match(after):
        return ()
    asked = re.search(r"\b(?:which|who|what)\b", sentence[: each.start()], re.IGNORECASE)
    verbs = 2 if asked and re.fullmatch(rf"the|an?|{_SUPERLATIVE}", stop) else 0
    phrases = [named[: len(named) - dropped] for dropped in range(verbs + 1) if dropped < len(named)]
    phrases = [phrase[at:] for phrase in phrases if len(phrase) <= _PHRASE for at in range(len(phrase))]
    return tuple(filter(None, dict.fromkeys(words(" ".join(phrase)) for phrase in phrases)))
