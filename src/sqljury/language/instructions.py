"""The instructions in a question's evidence: its lines, which of them concern the question, and what they demand.

Evidence is a line, or a glossary of many: definitions (``PMCS = per month customer signups``) and rules (``always
filter names with ILIKE``). A small model follows a line that stands next to the question and overlooks one of twenty
far from it, so the lines that concern the question are told from the others by their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqljury.language.words import NUMBER_WORDS, STOP_WORDS, content_words, words
from sqljury.patterns import regex

LINES: Final = 200
"""Lines of evidence that are read; what comes after them is left out."""

_BULLET: Final = regex(r"^\s*(?:[-*•–·]|\(?\d{1,3}[.)])\s+")
_HEADING: Final = regex(r"[^:=]{1,40}:$")
_PART: Final = regex(r";\s+(?=[^\s;]+\s+\S)")
_QUOTES_OR_BRACKETS: Final = regex(r"'[^']*'|\"[^\"]*\"|\([^()]*\)")

_TERM: Final = r"(?P<term>[^=<>:;,.()]{1,60}?)"
_MEANS: Final = (
    r"refers? to|means?|stands? for|(?:is|are) (?:defined|calculated|computed|counted|given|written|stored) (?:as|by)"
    r"|(?:is|are) short for|denotes?|equals?"
)
_VERB: Final = _MEANS.replace("means?", r"means(?!\s+(?:of|by|per|for|over|across)\b)")
"""Verbs that define where an equals sign follows too; ``mean price = AVG(price)`` has none."""
_COMPARISON: Final = r"(?:[\w.]+|`[^`]+`|\"[^\"]+\"|\[[^\]]+\])\s*(?:[=!]=|<>|[<>]=?|=)\s*\S.*"
"""A condition on a column, such as ``status = 3``."""
_FIRM: Final = (
    regex(rf"^{_TERM}\s+(?:{_VERB})\s+(?P<meaning>[^=:\s].*)$", re.IGNORECASE),
    regex(
        rf"^(?:an? |the )?(?P<term>[\w'\"-]+(?: [\w'\"-]+){{0,2}}?) (?:is|are) (?P<meaning>{_COMPARISON})$",
        re.IGNORECASE,
    ),
    regex(rf"^{_TERM}\s*(?:={{1,2}}|:)\s*(?P<meaning>.+)$"),
    regex(rf"^{_TERM}\s+(?:{_MEANS})\s+(?P<meaning>.+)$", re.IGNORECASE),
    regex(rf"^(?:by|with)\s+{_TERM}\s+we mean\s+(?P<meaning>.+)$", re.IGNORECASE),
)
"""Definitions by a sign or a verb, whose meaning may bind: the first that a line has the form of reads it."""
_DEFINITIONS: Final = (
    *_FIRM,
    regex(
        r"^(?:an? |the )?[\w'-]+ (?:is|are|counts? as) (?P<term>[\w'-]+(?: [\w'-]+){0,2}) (?:if|when|once|where) "
        r"(?P<meaning>.+)$",
        re.IGNORECASE,
    ),
    regex(
        r"^(?P<meaning>\S+(?: \S+){3,}) (?:is|are|counts? as) (?:an? |called )?(?P<term>[\w-]+(?: [\w-]+)?)\.?$",
        re.IGNORECASE,
    ),
    regex(r"^(?:an? |the )?(?P<term>[\w'-]+(?: [\w'-]+){0,2}) (?:is|are) (?P<meaning>.+)$", re.IGNORECASE),
)
_RULE: Final = regex(
    r"^(?:please\s+)?(?:always|never|do not|don't|only|use|when|whenever|if|for|in|unless|all|any|every|each|exclude|"
    r"ignore|include|filter|compare|match|round|show|list|return|report|give|sort|order|limit|count|treat|dates?|"
    r"names?|texts?|results?|rows?|it|there|this|these|answers?|output|queries|note|join|leave|skip|avoid|prefer)\b",
    re.IGNORECASE,
)
_BINDING: Final = regex(
    r"\b(?:always|never|must|should|unless|exclud\w*|ignor\w*|leave (?:\w+ )?out|left out|in every (?:answer|query)"
    r"|(?:do|does) not count|don't count|doesn't count|limited to|rounded? to)\b",
    re.IGNORECASE,
)
_CONDITION: Final = regex(r"^(?:when|whenever|if|for|in questions? (?:about|on))\s+(?P<condition>[^,]+),", re.I)
_IMPERATIVE: Final = regex(
    r"(?:please\s+)?(?:always|never|do not|don't|use|exclude|ignore|include|filter|compare|match|round|show|list|"
    r"return|report|give|sort|order|limit|treat|leave|skip|avoid|prefer)\b",
    re.IGNORECASE,
)
_TERM_WORDS: Final = 6
_FIRM_WORDS: Final = 3
_SHORT: Final = 3
_ACRONYM: Final = regex(r"(?=\S*[A-Z]\S*[A-Z0-9])[A-Z][A-Za-z0-9&/-]{1,9}")
_SPELT_OUT: Final = regex(r"[A-Za-z][\w' -]{3,70}")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of evidence: a definition of a ``term``, with its ``meaning``; a rule for every query; or a statement.

    A statement, such as ``a long trip lasts more than an hour``, concerns questions that have its first word.
    """

    text: str
    term: str = ""
    meaning: str = ""
    is_rule: bool = False

    def concerns(self, asked: frozenset[str]) -> bool:
        """Whether a text of these words is concerned.

        It is by a definition whose term occurs, or whose whole meaning does where that is short, as in ``F stands for
        female``, or any word of the meaning where the term is a column's name; by a rule whose condition may hold.
        """
        if self.term:
            meaning = content_words(self.meaning)
            enough = len(meaning) if len(meaning) <= _SHORT else 0
            enough = 1 if "_" in self.term else enough
            return asked.issuperset(content_words(self.term)) or 0 < enough <= len(asked.intersection(meaning))
        if not self.is_rule:
            return not asked.isdisjoint(content_words(self.text)[:1])
        condition = _CONDITION.match(self.text)
        named = set(words(condition["condition"])) - STOP_WORDS if condition else set[str]()
        return not named or not asked.isdisjoint(named)


def instructions(evidence: str) -> tuple[Instruction, ...]:
    """The instructions in a text: its lines, and what semicolons separate, without bullets and headings."""
    texts = (_BULLET.sub("", line).strip() for line in evidence.splitlines())
    parts = (part.strip() for text in texts if text and not _HEADING.fullmatch(text) for part in _parts(text))
    return tuple(_read(part) for part in dict.fromkeys(parts) if part)[:LINES]


def concerning(given: Sequence[Instruction], question: str) -> tuple[Instruction, ...]:
    """Those of the instructions that concern the question: its terms first, in its order, then rules.

    A definition of a term that another one uses concerns the question too.
    """
    asked = frozenset(words(question))
    kept = {number for number, line in enumerate(given) if not line.is_rule and line.concerns(asked)}
    while True:
        used = frozenset(word for number in kept for word in words(given[number].meaning))
        more = {number for number, line in enumerate(given) if line.term and _uses(used, line)} - kept
        if not more:
            break
        kept |= more
    order = {word: position for position, word in reversed(list(enumerate(words(question))))}
    terms = sorted(kept, key=lambda number: (_position(given[number], order), number))
    rules = [line for line in given if line.is_rule and line.concerns(asked)]
    return (*(given[number] for number in terms), *rules)


def expanded(question: str, given: Sequence[Instruction]) -> str:
    """The question with the meaning of each acronym after its first occurrence, in brackets.

    Only meanings in plain words, such as ``per month customer signups``, are written so.
    """
    for line in given:
        if not (_ACRONYM.fullmatch(line.term) and _SPELT_OUT.fullmatch(line.meaning.rstrip("."))):
            continue
        meaning = line.meaning.rstrip(".")
        if meaning.casefold() not in question.casefold():
            match = re.search(rf"(?<!\w){re.escape(line.term)}(?!\w)", question)
            question = f"{question[: match.end()]} ({meaning}){question[match.end() :]}" if match else question
    return question


def _parts(text: str) -> list[str]:
    """What semicolons separate, but for those in quotes and brackets."""
    hidden = _QUOTES_OR_BRACKETS.sub(lambda match: "_" * len(match[0]), text)
    ends = [match.span() for match in _PART.finditer(hidden)]
    starts = [0, *(end for _, end in ends)]
    return [text[start:end] for start, end in zip(starts, [*(start for start, _ in ends), len(text)], strict=True)]


def _uses(used: frozenset[str], line: Instruction) -> bool:
    """Whether a definition's meaning has the term of another."""
    return used.issuperset(content_words(line.term))


def _read(text: str) -> Instruction:
    defined = _defined(text)
    if defined is not None and _binds(defined):
        return Instruction(text, is_rule=True)
    if defined is not None:
        return defined
    return Instruction(text, is_rule=bool(_RULE.match(text) or _BINDING.search(text)))


def _defined(text: str) -> Instruction | None:
    """The line as a definition, None if it has not the form of one."""
    for pattern in _DEFINITIONS:
        if match := pattern.match(text):
            term = re.sub(r"^(?:an?|the)\s+|[\"'“”‘’`]", "", match["term"].strip(), flags=re.IGNORECASE).strip()
            return Instruction(text, term, match["meaning"].strip()) if 0 < len(term.split()) <= _TERM_WORDS else None
    return None


def _binds(line: Instruction) -> bool:
    """Whether what looks like a definition is a rule, such as ``cancelled lessons do not count: leave them out``."""
    if _ACRONYM.fullmatch(line.term):
        return False
    if _RULE.match(line.text) or _BINDING.search(line.term) or _IMPERATIVE.match(line.meaning):
        return True
    firm = len(line.term.split()) <= _FIRM_WORDS and any(pattern.match(line.text) for pattern in _FIRM)
    return bool(_BINDING.search(line.meaning)) and not firm


def _position(line: Instruction, order: dict[str, int]) -> int:
    return min(
        (order[word] for word in content_words(line.term or line.text) if word in order),
        default=len(order),
    )


class Demands(NamedTuple):
    """What instructions demand of a query, as far as a program can tell; None and False where they do not.

    With ``ignore_case`` texts are compared regardless of case: all texts where ``case_of`` is empty, else those of
    columns whose names share a word with it. ``decimals`` are those of figures in the result. ``limit`` is the largest
    number of rows, unless the question asks for another. ``distinct`` rows are to differ.
    """

    ignore_case: bool = False
    case_of: frozenset[str] = frozenset()
    decimals: int | None = None
    limit: int | None = None
    distinct: bool = False

    def folds(self, column: str, columns: Iterable[str]) -> bool:
        """Whether texts of a column, one of these of the schema, are compared regardless of case."""
        if not self.ignore_case or self.case_of.intersection(words(column)):
            return self.ignore_case
        return not any(self.case_of.intersection(words(other)) for other in columns)


_CASE: Final = regex(
    r"\bILIKE\b|\b(?:regardless of|ignor\w*|whatever) (?:the |their |its )?(?:upper and lower |letter )?case\b"
    r"|\bcase[- ]?insensitiv\w*|\bnot case[- ]sensitiv\w*|\bLOWER\s*\(|\bUPPER\s*\(|\bin (?:any|either) case\b"
    r"|\bwithout regard to case\b|\bcase (?:does not|doesn't|should not|must not) matter\b",
    re.IGNORECASE,
)
_NOT: Final = regex(r"\b(?:never|not|don't|avoid|without)\s+(?:\w+\s+){0,2}?(?:use\s+)?(?:ILIKE|LOWER|UPPER)\b", re.I)
_CASE_WORDS: Final = frozenset(
    """
    ilike like lower upper case insensitive insensitively insensitivity sensitive sensitively ignore ignoring filter
    filtering compare comparing comparison match matching search searching text texts string strings column columns
    value values field fields always alway use never condition conditions regardless letter letters equal equality test
    """.split()  # noqa: SIM905 - the words are read easier so
)
_NUMBER: Final = rf"(?P<number>\d{{1,4}}|{'|'.join(NUMBER_WORDS)}|none|no)"
_DECIMALS: Final = regex(rf"\b{_NUMBER}\s+(?:decimals?|digits? after|fraction(?:al)? digits?)", re.IGNORECASE)
_WHOLE: Final = regex(r"\bround\w*\b.*\b(?:whole|nearest integer|integers?)\b", re.IGNORECASE)
_CENTS: Final = regex(r"\bround\w*\b.*\b(?:cents?|hundredths?)\b", re.IGNORECASE)
_LIMIT: Final = regex(
    rf"\b(?:at most|no more than|limit\w*(?: \w+){{0,3}}? to|(?:only )?the first|not more than|up to|LIMIT)\s+{_NUMBER}"
    r"(?:\s+(?:rows?|results?|lines?|entries|records)\b|$|[.,]|\s+(?:unless|by default|if))",
    re.IGNORECASE,
)
_DISTINCT: Final = regex(
    r"\b(?:no|without|remove|never (?:show|list|return)) duplicates?\b|\bDISTINCT\b|\beach \w+ (?:only )?once\b", re.I
)


def demands(given: Sequence[Instruction]) -> Demands:
    """What rules and statements demand of a query; definitions demand at most that case is ignored."""
    demanded = Demands()
    for line in given:
        text = line.text
        if _CASE.search(text) and not _NOT.search(text):
            subject = frozenset(words(text)) - _CASE_WORDS - STOP_WORDS
            demanded = demanded._replace(ignore_case=True, case_of=demanded.case_of | subject)
        if line.term:
            continue
        if match := _DECIMALS.search(text):
            demanded = demanded._replace(decimals=_number(match["number"]))
        elif _WHOLE.search(text) or _CENTS.search(text):
            demanded = demanded._replace(decimals=0 if _WHOLE.search(text) else 2)
        if match := _LIMIT.search(text):
            demanded = demanded._replace(limit=_number(match["number"]) or None)
        if _DISTINCT.search(text):
            demanded = demanded._replace(distinct=True)
    return demanded


def _number(text: str) -> int:
    lower = text.casefold()
    return int(lower) if lower.isdigit() else NUMBER_WORDS.index(lower) if lower in NUMBER_WORDS else 0
