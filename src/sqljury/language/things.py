"""Which words of a question name things that a database must know, and not how things stand to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sqljury.language.alike import question_words
from sqljury.language.keywords import quoted
from sqljury.language.words import FORM_WORDS, NOT_VALUES, NUMBER_WORDS, STOP_WORDS, singular, words
from sqljury.patterns import regex

_GENERAL: Final = """
    able accessed accessible accommodate across actual actually add additional aforementioned again against age
    aged ahead almost alone along alphabetic alphabetical alphabetically already although altogether always amongst
    amount another answer anyone anything anywhere appear apply april aren around ascending aside associate
    associated attain attempt august authorization availability back base because become began begin behind belong
    besides best beyond big bigger born both bottom bought breakdown bring built busiest busy buy calendar call
    called came cannot capable carry case category cent centimetre century characteristic charge cheap cheaper
    cheapest check choose chosen close column combination come common commonly compare complete compute concerned
    condition consist consume contain containing copy correspond corresponding couldn count counting couple cover
    create creation criterion cross current currently data database day dear dearest decade december decimal deeper
    descending describe description detail determine didn differ difference digit distribution doesn dollar don
    done double drawn drew driven drove duplicate during earn eaten effect either else empty end enough enter
    entire entry equal equivalent etc euro even event ever everybody everyone everything exact exactly exceed
    except exclude exist expensive experience extreme failure fallen far fast faster february fell felt female
    fewer fifth figure find finish first flew flown fly foggy forgotten form former fought found four fourth free
    frequency frequent frequently friday front full fully further gave general given go goe good got great grew
    group grown half happen happened hasn haven heard heavier heaviest held here high higher highly hire history
    hit hold hour htat human hurt id identifier identify ids ignore include including inclusive increasing
    individual info information initial inside instance instead interact involve involved isn item itself january
    join joined july june keep kept kilogram kilometre kind knew know known laid large larger last lasted late
    later lead learn least led left lend lent letter level lexicographic lexicographical lie lighter like list
    listed lit litre live lived living load located location long longer longest look lose loss lost lot low lower
    lowercase made main make male man manner many march match mate matter may mean meaning meant measurement median
    meet member mention mentioned met meter method metre mid mile minimum minus minute moment monday money month
    name named near nearer need negative neither never new next nobody non none note november now null number
    obtain occur occurrence october off offer often old older once open opened order origin original other
    otherwise outside overall overview own paid pair part participate participated particular past pay people per
    percent period person place placement play played please plus point popular portion position positive possible
    pound present previous print prior produce produced production prominent provide provided purchase put quantity
    quarter question rained ran range rate rather reach read receive received recent recently record refer relate
    related relation represent reside respect respective respectively rest result return reverse ridden right risen
    rode rose round rounded rounding row run said same sang sat saturday saw say search second see seen sell send
    sent separate september serve set several shared short shorter shot show shown shut similar simultaneously
    since single sixth size skip slept slowest small smaller sold somebody someone something sort sorted span
    specific specifically spell spend spent spoke spread stand start state status stay still stolen stood string
    stronger structure stuck style submit substring success successful suffer summary sunday sung sunny swam swum
    table tahn take taken tall taller taught teach teh tell ten term text th themselve thing third thousand three
    threw thursday tie time title today together told tomorrow tonight too took top total toward tuesday two type
    typical under understood union unique unknown up use used using usually value various versus view want wasn way
    weaker wednesday week weekday weekend well went weren whah whare whatever whether whoever whole wider win with
    within without woman women won word wore work worked working world worst worth would write written wrote year
    yesterday yet young younger zero
"""
_LISTED: Final = FORM_WORDS | NOT_VALUES | frozenset(NUMBER_WORDS) | frozenset(_GENERAL.split())
GENERAL: Final = _LISTED | frozenset(map(singular, _LISTED))
"""Words that any question may have, whatever it is about: of people, time, place, order and comparison."""

_ROLES: Final = """
    actor actress artist author boss buyer child client college company consumer customer director driver employee
    employer faculty family firm guest individual instructor investor leader lecturer manager member musician officer
    organization owner participant passenger patient performer person player professor pupil resident school singer
    shop staff store student supplier teacher team university user visitor voter winner worker writer
"""
ROLES: Final = frozenset(_ROLES.split())
"""Kinds of people and bodies, which a question may name where the schema calls them otherwise, or only by a key."""

_KIN: Final = (
    "student pupil child grade class classroom college school university",
    "teacher professor instructor lecturer faculty tutor",
    "school college university faculty campus",
    "employee worker staff personnel crew",
    "boss manager leader director supervisor head chief",
    "customer client buyer consumer guest visitor user member subscriber account",
    "singer artist musician performer band",
    "actor actress cast performer star",
    "author writer",
    "company firm organization employer business manufacturer maker brand enterprise",
    "shop store branch outlet",
    "person individual people human",
)
"""Words for the same people and bodies, and for what a schema with them may call them by."""
SAME: Final[dict[str, tuple[str, ...]]] = {
    **{role: tuple(word for kin in _KIN if role in kin.split() for word in kin.split()) for role in sorted(ROLES)},
    "absence": ("leave", "holiday", "vacation"),
    "article": ("item", "product"),
    "birth": ("bday", "birthday", "dob", "born"),
    "birthday": ("birth", "bday", "dob", "born"),
    "car": ("vehicle",),
    "category": ("genre", "kind", "type"),
    "city": ("town", "place", "location"),
    "cost": ("price", "fee", "amount", "charge", "expense"),
    "date": ("day", "time", "year", "month", "birth", "birthday", "bday", "dob", "deadline", "on", "since"),
    "film": ("movy",),
    "gender": ("sex", "male", "female"),
    "genre": ("category", "kind", "type"),
    "leave": ("absence", "holiday", "vacation"),
    "movy": ("film",),
    "price": ("cost", "fee", "charge"),
    "revenue": ("sale", "turnover", "income"),
    "salary": ("pay", "wage"),
    "sex": ("gender", "male", "female"),
    "shipment": ("consignment", "delivery"),
    "surname": ("last", "family"),
    "town": ("city", "place"),
    "turnover": ("sale", "revenue", "income"),
    "vehicle": ("car",),
    "wage": ("pay", "salary"),
}
"""Other words for a thing, which names of columns and tables may have."""
_INTERNATIONAL: Final = """
    actor age agent also april art august author base boss capable category client code combination condition consumer
    copy data date description director distance distribution document double effect euro family fast film firm gender
    general genre hat her human identifier information instance instructor item kind level location lot main man
    manager minute moment name note november null officer original participant participate passenger patient per
    person place point popular portion position production professor question record relation rest school sex simple
    single september start status string student style team text total type unique user value variable visitor was
"""
_NOUNS: Final = "address book country department invoice phone salary street town"
_ENGLISH: Final = (GENERAL | SAME.keys() | set(_NOUNS.split())) - set(_INTERNATIONAL.split())
"""Words of English that names in German, French, Spanish, Italian, Dutch or Portuguese hardly have."""
_SHORTEST: Final = 3
"""Letters of a word that tells a language: ``in`` and ``an`` are words of several."""
ENGLISH: Final = 0.25
"""The share of a question's words that say how to answer, from which on it is taken for English."""
_FORMS: Final = regex(r".{2,}(?:ed|ing|ly|est)")
"""Verbs, adverbs and superlatives, mostly, by their ends."""
_ORDER: Final = regex(r"^\W*[^\W\d_]+(?=\s+(?:the|all|each|every|me|us|our|my|a|an|these|those)\b)", re.IGNORECASE)
"""The verb that a question begins with: rank the products."""
_CAPITAL: Final = regex(r"(?<=[a-z,;] )[A-Z][\w-]*|\b[A-Z]{2,}\b")
"""Names within a sentence."""


def is_english(question: str) -> bool:
    """Whether so many words of a question say how to answer that it is in English."""
    every = words(question)
    return sum(word in STOP_WORDS for word in every) >= ENGLISH * len(every)


def has_english(names: Iterable[str]) -> bool:
    """Whether any of these words, which are pieces of a schema's names, is English and of no other language."""
    return any(len(word) >= _SHORTEST and word in _ENGLISH for word in names)


def mentioned(question: str) -> frozenset[str]:
    """The words of names and quoted texts, which are values."""
    return frozenset(word for text in (*quoted(question), *_CAPITAL.findall(question)) for word in words(text))


def things(question: str) -> list[str]:
    """Words that name kinds of things or their properties, in order; names and quoted texts are values, not things.

    Empty for a question that is not in English, whose general words are not known.
    """
    if not is_english(question):
        return []
    values = mentioned(question)
    return [
        word
        for word in question_words(_ORDER.sub("", question))
        if not word.isdigit() and word not in GENERAL and word not in values and not _FORMS.fullmatch(word)
    ]
