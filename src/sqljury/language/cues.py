"""Words of an English question that call for an element of its query, or tell the shape of its answer.

Rules of thumb, checked on questions and gold queries of Spider's training split. A question in another language, or one
that they do not understand, has no cues.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.language.words import NUMBER_WORDS, words
from sqljury.patterns import regex


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that call for any of ``elements``, and words, these among them, that allow the first one.

    ``elements`` are those of ``sql.features.Anatomy``.
    """

    name: str
    calls: re.Pattern[str]
    allows: re.Pattern[str]
    elements: tuple[str, ...]


def _cue(name: str, elements: str, calls: str, allows: str) -> Cue:
    return Cue(name, _words(calls), _words(f"{calls}|{allows}"), tuple(elements.split()))


def _words(listed: str) -> re.Pattern[str]:
    return regex(rf"\b(?:{listed})\b", re.IGNORECASE)


HIGHEST: Final = "highest|largest|biggest|greatest|longest|maximum|max|heaviest|tallest|richest"
LOWEST: Final = "lowest|smallest|fewest|shortest|minimum|min|lightest|cheapest"
DIFFERENT: Final = "different|distinct|unique"
"""Alternatives of a pattern, which other modules share."""

GREATEST: Final = rf"(?<!at )most|{HIGHEST}|latest|newest|top"
SMALLEST: Final = rf"(?<!at )least|{LOWEST}|earliest|worst"
RANKED: Final = rf"{GREATEST}|{SMALLEST}|oldest|youngest|strongest|fastest|slowest|closest|nearest|best|deepest"
_NUMBERS: Final = r"one|two|three|four|five|once|twice|\d+|several|multiple|many|any|exactly|only"
_OFTEN: Final = "times|popular|common|commonly|frequent|frequently|frequency|prevalent|number|amount"
_COMPARED: Final = (
    r"(?:more|less|fewer|greater|older|younger|longer|shorter|higher|lower|larger|smaller|bigger|heavier|later|earlier)"
    r" than|at least|at most|above|below|exceed\w*"
)
_TURNS: Final = "more|less|fewer|not|greater|later|earlier|older|younger|after|before|above|over|equal|her|she"
CUES: Final = (
    _cue(
        "count",
        "count sum avg",
        "how many|count the|(?:the|total|and) number of",
        rf"{RANKED}|{_NUMBERS}|{_OFTEN}|at|count",
    ),
    _cue("average", "avg", "averages?|mean", "typical|typically"),
    _cue("sum", "sum count", "total|sum", "overall|altogether|combined|how many|how much|number|amount"),
    _cue("extreme", "limit max min", RANKED, rf"first|last|recent|\w+est|{_NUMBERS}|some|all|than|ever|never"),
    _cue("distinct", "distinct", DIFFERENT, "various|each|all|kinds?|types?|how many|number"),
    _cue(
        "sorted",
        "sorted",
        "order(?:ed)? by|order of|sort(?:ed)?|alphabetical(?:ly)?|ascending|descending",
        "order(?:ed)?|rank(?:ed|ing)?|from|list(?:ed)?",
    ),
    _cue(
        "group",
        "group",
        "for each|of each|in each|by each|per",
        rf"each|every|{RANKED}|{_COMPARED}|{_NUMBERS}|{_OFTEN}|different|corresponding|both|and|with",
    ),
    _cue(
        "negation",
        "not",
        r"not|no|never|without|except|excluding|nor|neither|other than|\w+n['’]t",
        "none|only|null|any",
    ),
    _cue("either", "or both", f"either|or(?! (?:{_TURNS}))", "both|and|not|no|without|also|any|all|in|who|that|which"),
    _cue(
        "compare",
        "compare having limit not",
        _COMPARED,
        r"over|under|between|before|after|since|within|than|or|\w+er",
    ),
    _cue(
        "like",
        "like",
        "(?:start|begin|end)(?:s|ning|ing)? with|contain(?:s|ing)? the|letters?|substring|the word",
        r"contain\w*|includ\w+|have|has|with|in|that|whose",
    ),
)
_UP: Final = _words(rf"{GREATEST}|descending")
_DOWN: Final = _words(SMALLEST)


def missing(question: str, elements: frozenset[str]) -> dict[str, float]:
    """By cue 1 where the question calls for an element and the query has none of them, else 0."""
    return {
        cue.name: float(bool(cue.calls.search(question)) and not elements.intersection(cue.elements)) for cue in CUES
    }


def uncalled(question: str, elements: frozenset[str]) -> dict[str, float]:
    """By cue 1 where the query has its first element and no word of the question allows that, else 0."""
    return {cue.name: float(cue.elements[0] in elements and not cue.allows.search(question)) for cue in CUES}


def direction(question: str, elements: frozenset[str]) -> float:
    """1 where question and query agree on the greatest or the smallest, -1 where they differ, 0 where one is silent."""
    asked = bool(_UP.search(question)) - bool(_DOWN.search(question))
    given = bool({"up", "max"} & elements) - bool({"down", "min"} & elements)
    return float(asked * given)


_HOW_MANY: Final = regex(r"^\W*how many\b", re.IGNORECASE)
_EACH: Final = _words("each|every|per|by|respectively|different|distinct|all")
_GROUPS: Final = _words("(?:for|of|in|by|to) (?:each|every)|per")
_WHOLE_SET: Final = _words("each|every|per|all")
_DIFFERENT: Final = _words(DIFFERENT)
_BEST: Final = _words(rf"{GREATEST}|{SMALLEST}|oldest|youngest")
_SEVERAL: Final = _words(
    rf"\d+|{'|'.join(NUMBER_WORDS[2:])}|and|or|order(?:ed)?|sort(?:ed)?|than|all|list|at (?:least|most)|are"
)
_ASKING: Final = regex(
    r"^\W*(?:(?:please|can you|could you)\s+)?(?:what(?:'s| is| are| was| were)?|which|who|whose|list(?: out)?"
    r"|show(?: me)?|find(?: out)?|give(?: me)?|return|tell me|display|report|select|state|get)\b\W*"
    r"(?:(?:all|both)\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
BOUND: Final = regex(
    r"\b(?:where|for|of|who|that|which|whose|with|in|from|when|by|sort(?:ed)?|order(?:ed)?|having|on|at|to|per|each"
    r"|do|does|did|has|have|had|is|are|was|were|if)\b|[?.;]",
    re.IGNORECASE,
)
_FIGURE: Final = _words("number|total|average|mean|maximum|minimum|sum|max|min")
_MORE: Final = regex(
    r"\b(?:and|as well as) (?:the|how|when|where|what|their|its)\b|[.?]\s+(?:list|show|find|give|return|what)\b",
    re.IGNORECASE,
)
_JOINT: Final = regex(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:also\s+)?|\s+as well as\s+|\s+along with\s+", re.IGNORECASE)


def items(question: str) -> int:
    """How many columns the question asks for, by what it lists before it goes on about them; 0 where unclear."""
    if _HOW_MANY.match(question):
        return 0 if _EACH.search(question) else 1
    asking = _ASKING.match(question)
    if asking is None:
        return 0
    whole = question[asking.end() :]
    listed = BOUND.split(whole, maxsplit=1)[0]
    if (_FIGURE.search(listed) and _EACH.search(whole)) or _MORE.search(whole[len(listed) :]):
        return 0  # whether a figure comes with what it is of, and what is asked for later on, is anyone's guess
    return len([item for item in _JOINT.split(listed) if item.strip()])


def number(question: str) -> bool:
    """Whether a number is the whole answer: how many, for nothing apart."""
    return bool(_HOW_MANY.match(question)) and not _EACH.search(question)


def one_row(question: str) -> bool:
    """Whether the answer is a single row: a number, or the one that is the most or the least of something."""
    return number(question) or (
        bool(_BEST.search(question)) and not (_SEVERAL.search(question) or _EACH.search(question))
    )


def groups(question: str) -> bool:
    """Whether something is asked for each of several."""
    return bool(_GROUPS.search(question))


def every(question: str) -> bool:
    """Whether something is asked of each or of all of them, so that none is to be left out."""
    return bool(_WHOLE_SET.search(question))


def different(question: str) -> bool:
    """Whether nothing may be told twice."""
    return bool(_DIFFERENT.search(question))


_RATIO: Final = regex(
    r"%|\b(?:ratios?|percent\w*|proportions?|fractions?|averages?|avg|mean|rates?|share|per|out of|density"
    r"|probability|odds|portion)\b",
    re.IGNORECASE,
)
_WHOLE: Final = _words(
    r"whole numbers?|integers?|truncat\w*|rounded down|decades?|century|centuries"
    r"|(?:full|complete|completed|whole) (?:years?|months?|weeks?|days?|hours?|minutes?|dozens?|pages?|euros?|dollars?)"
    rf"|(?:full|complete|whole|entire) \w+ of (?:\d{{1,3}}|{'|'.join(NUMBER_WORDS[2:])}|twelve|a dozen)"
)
_EXTREME: Final = _words(rf"{RANKED}|most recent(?:ly)?|highest\W?paid")


def ratio(question: str) -> bool:
    """Whether a ratio, percentage, rate or average is asked for, and not its whole part."""
    return bool(_RATIO.search(question)) and not whole_part(question)


def whole_part(question: str) -> bool:
    """Whether whole numbers are asked for, such as full hours."""
    return bool(_WHOLE.search(question))


_PART_OF_NAME: Final = r"(?!(?:\W+(?:and|or)\W+(?:(?:the|their)\W+)?(?:first|middle|last))*\W+names?\b)"
"""Not before "name": "first and last name" asks for no end of an order."""
_RANKING: Final = _words(rf"{RANKED}|(?:first|last){_PART_OF_NAME}|recent")
_COUNTING: Final = regex(
    rf"\b(?:how many|(?:the|total|a) (?:count|number) of)\s+(?:(?:{DIFFERENT}|the|of|all|total)\s+)*", re.IGNORECASE
)


def ranked(question: str) -> list[str]:
    """The words of the question that ask for one end of an order, in lower case."""
    return [word.lower() for word in _RANKING.findall(question)]


def counted(question: str) -> list[str]:
    """Up to four words for what the question counts, such as [male, students]; none where it counts several things."""
    matches = list(_COUNTING.finditer(question))
    if len(matches) != 1:
        return []
    after = question[matches[0].end() :]
    ends = [match.start() for match in (BOUND.search(after), re.search(r"[^\w\s'-]", after)) if match]
    return after[: min(ends, default=len(after))].lower().split()[:4]


_COUNTED_DIFFERENT: Final = regex(rf"\b(?:how many|(?:the )?number of) (?:{DIFFERENT})\b", re.IGNORECASE)


def different_things(question: str) -> tuple[str, ...] | None:
    """The words for what the question counts different ones of: "city" of "how many different cities"."""
    if len(_COUNTED_DIFFERENT.findall(question)) != 1 or not (things := counted(question)):
        return None
    return words(" ".join(things))


_TRADED: Final = (
    "sold|bought|purchased|ordered|reordered|rented|borrowed|lent|loaned|booked|reserved|shipped|dispatched|delivered"
    "|returned|issued|served|consumed|downloaded|streamed|produced|given out|handed out|taken out|checked out"
)
"""What is done with goods, with the same ones again and again."""
_TRADE: Final = (
    "sell|buy|purchase|order|reorder|rent|borrow|lend|loan|book|reserve|ship|deliver|issue|serve|consume|produce"
)
_GOODS: Final = regex(
    rf"\b(?:were|was|are|is|been|being|got|get)(?: (?!not\b)[\w-]+)?? (?:{_TRADED}|on loan|on hire)\b"
    rf"|\b(?:did|do|does|has|have|had) (?!not\b|never\b)[\w'-]+(?: [\w'-]+){{0,3}}? (?:{_TRADED}|{_TRADE})\b",
    re.IGNORECASE,
)
_AGENTS: Final = regex(
    rf"\b(?:has|have|had) (?:\w+ly|already|ever|also|once|yet|just|been) (?:{_TRADED})\b", re.IGNORECASE
)
_CHANGE_HANDS: Final = _words(f"{_TRADED}|sell|sells|buy|buys|brought in|earn(?:ed|s)?|took in|revenue|turnover|sales")


_NOT_TIMES: Final = _words("how many of|ever|at least|times")
_EACH_TIME: Final = regex(
    r"\b(?:count(?:ing|ed|s)?|includ(?:e|es|ed|ing)|with) (?:all |any |the )?(?:repeats?|repetitions|duplicates)\b"
    r"|\b(?:repeats|repetitions|duplicates|each time|every time) (?:are |is )?(?:count(?:s|ed)?|included)\b"
    r"|\bcount(?:ing|ed|s)? (?:each|every) time\b",
    re.IGNORECASE,
)


def times_of_goods(question: str) -> bool:
    """Whether a number of goods is one of times: "how many books were lent", "how many books has Ann borrowed".

    Not how many have bought something, nor how many of some goods were ever sold. What is counted with repeats is one
    in any case.
    """
    if _EACH_TIME.search(question):
        return True
    match = _GOODS.search(_AGENTS.sub(" ", question))
    return match is not None and not _NOT_TIMES.search(question)


def goods_change_hands(question: str) -> bool:
    """Whether the question is about what was sold, bought or lent, each time it was."""
    return bool(_CHANGE_HANDS.search(question))


_LOSSES: Final = _words(
    r"loss(?:es)?|drops?|dips?|declines?|decreases?|falls?|deficits?|reductions?|shortfalls?|slumps?"
)


def speaks_of_losses(question: str) -> bool:
    """Whether the question is about what goes down, which may be stored as numbers below zero."""
    return bool(_LOSSES.search(question))


_OUTGOING: Final = _words(
    r"expenses?|expenditures?|spen[dt]\w*|costs?|pa(?:id|y|ys|yments?)|withdraw\w*|debts?|debtors?|ow(?:e|es|ed|ing)"
    r"|overdraw\w*|overdrafts?|debits?|charges?|refunds?|outgoings?|outflows?|purchases?|bills?|liabilit\w+|arrears"
    r"|negative|minus|corrections?|discounts?|deductions?"
)


def speaks_of_outgoings(question: str) -> bool:
    """Whether the question is about money that goes out or is owed, which accounts may hold as numbers below zero."""
    return bool(_OUTGOING.search(question))


def extreme(question: str) -> bool:
    """Whether the rows with the greatest or smallest of something are asked for."""
    return bool(_EXTREME.search(question))


_NOTHING: Final = "(?:without|with (?:no|none|0|zero)|(?:who|that|which) (?:have|has|had) (?:no|none|not|never))"
_UNMATCHED: Final = regex(
    r"\b(?:(?:includ(?:e|es|ing)|even|counting|also (?:show|list|count|give)) "
    rf"|also (?=(?:[\w']+ ){{1,2}}(?:who|that|which)))(?:[\w']+ ){{0,4}}?{_NOTHING}\b"
    r"(?P<lacked>(?: [\w'-]+){0,4})"
    r"|\beven (?:if|when|where) (?:it|they|there|\w+ \w+) (?:has|have|had|is|are|was|were) (?:no|none|not|never)\b"
    r"(?P<none>(?: [\w'-]+){0,4})"
    r"|\b(?:with|as|and|show(?:ing)?|give|say|put|or) (?:a )?(?:0|zero|nought) (?:for|if|where|when|in case)\b",
    re.IGNORECASE,
)
_UNSAID: Final = _words(
    "a|an|any|anything|one|ones|none|some|them|it|such|at all|match(?:es)?|records?|rows?|entr(?:y|ies)"
)
_AFTERWARDS: Final = _words("and|or|but|as|this|last|during|since|before|after|so|yet|too|there|then")
_ZEROS: Final = regex(r"\b(?:0|zeros?|nought)\b", re.IGNORECASE)
_LEFT_OUT: Final = regex(
    r"\b(?:leav(?:e|ing)|left) (?:\w+ ){0,4}out\b|\b(?:exclud|omit|except)|\bnot (?:includ|count)", re.IGNORECASE
)


def lacked(question: str) -> list[str]:
    """What the things lack that are wanted too, in the last word for it: "rooms" of "including hotels without rooms".

    Empty texts where that is not said, as in "with 0 for a hotel that has none"; no texts where no such things are.
    """
    if _LEFT_OUT.search(question):
        return []
    phrases = [match["lacked"] or match["none"] or "" for match in _UNMATCHED.finditer(question)]
    return list(map(_last_noun, phrases))


_NEVER: Final = regex(
    r"\b(?:includ(?:e|es|ing)|even) (?P<thing>(?:[\w']+ ){1,3}?)(?:(?:who|that|which) )?(?:nobody|no[ -]one"
    r"|(?:(?:were|was|have|has|had|been) )*never) (?P<done>[\w'-]+)",
    re.IGNORECASE,
)


def never_done(question: str) -> list[tuple[str, str]]:
    """The things that are wanted too, and what nobody did with them: "queues" and "called"."""
    if _LEFT_OUT.search(question):
        return []
    return [(match["thing"].split()[-1].lower(), match["done"].lower()) for match in _NEVER.finditer(question)]


def _last_noun(phrase: str) -> str:
    """The last word for a thing, up to what begins another part of the sentence; empty where there is none."""
    noun = _AFTERWARDS.split(BOUND.split(phrase, maxsplit=1)[0], maxsplit=1)[0]
    return (_UNSAID.sub("", noun).lower().split() or [""])[-1]


_UNMATCHED_OUT: Final = regex(
    r"\b(?:leav(?:e|ing) out|skip(?:ping)?|exclud(?:e|ing)|omit(?:ting)?|ignor(?:e|ing)) (?:all |any )?"
    rf"(?:those|the ones|them|anyone|anybody|anything|everyone|[\w-]+) {_NOTHING}\b"
    r"(?P<lacked>(?: [\w'-]+){0,4})",
    re.IGNORECASE,
)


def left_without(question: str) -> list[str]:
    """What the things lack that are to be left out, as ``lacked`` has it: nothing for "leave out those without one"."""
    return [_last_noun(match["lacked"]) for match in _UNMATCHED_OUT.finditer(question)]


def wants_zeros(question: str) -> bool:
    """Whether the question says that none is 0."""
    return bool(_ZEROS.search(question))


_CURRENT: Final = regex(
    r"\b(?:current(?:ly)?|presently|at present|at the moment)\b|\b(?:the|our|its|their) present (?!list|report|data)"
    r"|(?<=\w )(?<!\bok )(?<!\bso )(?<!\band )(?<!\bby )(?<!\buntil )(?<!\btill )(?<!\bto )\b(?:now|today)\b",
    re.IGNORECASE,
)
_FORMER: Final = _words(
    rf"ever|former(?:ly)?|previous(?:ly)?|past|histor(?:y|ic|ical)|first{_PART_OF_NAME}|so far|used to|since"
    "|change[sd]?|before|earlier|start|started|began|between|had|over the years"
)


_SORTED_FIRST: Final = regex(r"\b(?:\w+ )?first\b(?=\s*(?:[,.;:)]|$))", re.IGNORECASE)
"""Words for the order: "biggest number first"."""


def wants_current(question: str) -> bool:
    """Whether the question is about what holds now alone: "currently", and nothing of what was before."""
    return bool(_CURRENT.search(question)) and not _FORMER.search(_SORTED_FIRST.sub(" ", question))


_MEASURES: Final = (
    "account|address|amount|balance|budget|date|day|fee|inventory|level|location|manager|month|owner|position|price"
    "|quantity|quarter|rate|reading|salar(?:y|ie)|season|state|status|stock|time|value|version|week|year"
)
"""What a thing may have that is "current", though the thing itself is not said to be."""
_GOING_ON: Final = regex(
    rf"\b(?:current(?! (?:\w+ )?(?:{_MEASURES})s?\b)(?:ly)?|presently|at present|at the moment|right now|nowadays"
    r"|still|on-?going|going on)\b",
    re.IGNORECASE,
)
_CHANGED: Final = regex(
    rf"{_FORMER.pattern}|\b(?:still (?:has|have|need|to|count\w*|includ\w+)|not|no|never|until|till)\b", re.IGNORECASE
)
_BESIDE: Final = 4
"""Words between what goes on and the word that says so."""


def goes_on(question: str) -> bool:
    """Whether the question is about things that are not over: "meters still in place", "current members"."""
    return bool(_GOING_ON.search(question)) and not _CHANGED.search(_SORTED_FIRST.sub(" ", question))


def goes_on_beside(question: str, name: Sequence[str]) -> bool:
    """Whether a word of this name stands beside the one that says that something goes on: "meters still in place"."""
    return any(
        word in name
        for match in _GOING_ON.finditer(question)
        for word in (*words(question[: match.start()])[-_BESIDE:], *words(question[match.end() :])[:_BESIDE])
    )


_PAST: Final = _words(
    r"was|were|did|(?:has|have) been|(?:who|that|which) (?:once |also )?(?:\w+ed|held|ran|led|got|left)"
)


def tells_past(question: str) -> bool:
    """Whether something in the question was once: "the current address of everybody who worked there"."""
    return bool(_PAST.search(question))


_BOSS: Final = "managers?|supervisors?|boss(?:es)?|superiors?|leads?|leaders?|heads?"
_LEAD: Final = "manager|supervisor|boss|superior|lead|leader|head"
_BELOW: Final = (
    r"\breport(?:s|ed|ing)? (?:directly )?(?:in)?to {}",
    r"\b(?:managed|supervised|led|headed|overseen) (?:directly )?by {}",
    r"\bwork(?:s|ed|ing)? (?:directly )?(?:under|below) {}",
    rf"\bwhose (?:direct |line )?(?:{_BOSS}) (?:is|was|are) (?:called |named )?{{}}",
    r"\b(?:subordinates|direct reports|reports|staff|team) of {}",
    rf"{{}}'s? (?:subordinates|direct reports|reports|staff|team)\b(?!(?:'s)? (?:{_LEAD})\b)",
)
_ABOVE: Final = (
    r"\b(?:manages?|managed|supervises?|supervised|leads?|led|oversees|heads) (?:the \w+ of )?{}",
    rf"\b(?:{_BOSS}) of (?:the \w+ of )?{{}}",
    rf"{{}}'s? (?:direct |line )?(?:{_BOSS})\b",
    rf"{{}}'s? (?:team|staff|group)(?:'s)? (?:{_LEAD})\b",
    r"\bin charge of (?:the \w+ of )?{}",
    r"\b(?:does|did) {} (?:directly )?report (?:directly )?(?:in)?to\b",
    r"\b{} reports? (?:directly )?(?:in)?to\b",
)


def asks_for_superior(question: str, names: Sequence[str]) -> bool | None:
    """Whether the superior of one of ``names`` is asked for, and not those below them; None where neither is."""
    answers = [
        above
        for above, forms in ((True, _ABOVE), (False, _BELOW))
        if any(re.search(form.format(re.escape(name)), question, re.IGNORECASE) for form in forms for name in names)
    ]
    return answers[0] if len(answers) == 1 else None


_SUMMED: Final = _words(
    r"totals?|altogether|overall|combined|in all|spen[dt]\w*|brought in|earned|sold|sales|revenue|turnover"
)
_FOR_EACH: Final = regex(r"\b(?:for|in|of|from|within|at|on|by) (?:each|every) ([\w-]+)", re.IGNORECASE)
_NAMES: Final = _words("names?|called|who")
_COUNT: Final = _words("how many|numbers? of|counts?")
_KEYS: Final = _words(r"ids?|identifiers?|keys?|codes?|numbers?(?! of\b)|nos?")


def summed(question: str) -> bool:
    """Whether the question is about sums over several rows."""
    return bool(_SUMMED.search(question))


_SINGLE_ROW: Final = _words("single|individual(?:ly)?|at once|at a time|(?:in|on|with|from|at) (?:just |only )?one")
_OF_AMOUNT: Final = regex(
    r"\b([\w-]+) (?:(?:of|above|over|exceeding|worth|with)|(?:larger|greater|bigger|higher) than)"
    r"(?: (?:more than|at least|over|above|an? amount (?:of|above|over)))? \W?\d",
    re.IGNORECASE,
)


_ROWS: Final = regex(
    r"\b(?:which|what|list|show|find|give|get|all|any|every|each|how many|are there)(?: (?:all|any|the|our|me|us|of))*"
    r" (?:(?!of\b|in\b|for\b|by\b|the\b)[\w-]+ )??([\w-]+)(?=\W*$|[,.;:?]| (?:of|above|over|exceeding|worth|with|where"
    r"|that|which|were|was|are|is|had|has|have|in|on|from|by|for|to|larger|greater|bigger|higher|more)\b)",
    re.IGNORECASE,
)


def asked_for(question: str) -> list[str]:
    """Last words for the rows that are asked for: "sales" of "list all sales over 10,000"."""
    return [word.lower() for word in _ROWS.findall(question)]


def of_single_rows(question: str) -> list[str] | None:
    """The things that each have an amount: "orders" of "orders above 10000"; None where it says "single"."""
    return None if _SINGLE_ROW.search(question) else [word.lower() for word in _OF_AMOUNT.findall(question)]


def for_each(question: str) -> str:
    """The word for the groups that something is asked for: "region" of "in each region"; empty where there is none."""
    match = _FOR_EACH.search(question)
    return match[1] if match is not None else ""


def wants_count(question: str) -> bool:
    """Whether a number of things is asked for."""
    return bool(_COUNT.search(question))


def names(question: str) -> bool:
    """Whether names are asked for, and no ids, codes or numbers."""
    return bool(_NAMES.search(question)) and not _KEYS.search(question)


_MEDIAN: Final = regex(r"\bmedians?\b", re.IGNORECASE)
_OF_THE_MIDDLE: Final = regex(r"\b(?:mean|average) of (?:the|both) (?:two )?(?:middle|central)\b", re.IGNORECASE)
_BESIDE_MEDIAN: Final = _words(
    r"averages?|averaged|avg|means?|typical(?:ly)?|half|halves|mode|percentiles?|quartiles?|quantiles?|deviation"
    r"|(?:than|above|below|over|under|beyond|exceed(?:s|ed|ing)?|around|near|from|to|with|at) (?:(?:the|its|their|that"
    r"|this|a) )?(?:[\w'’-]+ ){0,2}median"
)
"""Words for other figures than the median, and for what is compared with it."""


def wants_median(question: str) -> bool:
    """Whether one median is asked for, and no average beside it nor anything that is compared with a median.

    "The mean of the two middle ones" only explains it.
    """
    explained = _OF_THE_MIDDLE.sub(" ", question)
    return len(_MEDIAN.findall(explained)) == 1 and not _BESIDE_MEDIAN.search(explained)
