"""How the name of a column relates to the table that it may refer to.

``customer_id``, ``custID``, ``billing_customer`` and ``cid`` may all mean ``customers.id``; ``manager_id`` means a row
of ``employees``. A relation is one of ``RELATIONS``; what each is worth, ``score`` knows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sqljury.language.words import positions, words
from sqljury.patterns import regex
from sqljury.types import Schema, Table

RELATIONS: Final = (
    "owner",  # customer_id and customers.id, customers.customer_id
    "role",  # billing_customer_id
    "entity",  # customer
    "role entity",  # host_city
    "part",  # building_id and apartment_buildings.id
    "same",  # a name that two tables share and that is not made of the other table's name
    "abbreviation",  # cust_id, dept_no
    "initials",  # oid, pid, po_id
    "parent",  # parent_id in the table itself
    "person",  # manager_id and employees.id, supplier_id and companies.id
    "plain",  # both are called id, code or name
)
"""How a column's name relates to a key, the strongest relation first."""

_IDENTIFIER_WORDS: Final = "id no num number nr nbr cod code cd key pk fk uid uuid guid oid ref ident identifier idx sk"
_NOISE_WORDS: Final = """
    tbl table t tb dim fact fct ref reference lookup lkp lu all master mst list info detail data stg raw vw view dbo
    public db record code
"""
_PERSON_WORDS: Final = """
    person people employee staff user member technician tech physician student teacher professor faculty worker agent
    emp usr individual consultant analyst lecturer doctor nurse colleague associate manager supervisor instructor coach
    driver author
"""
_ROLE_WORDS: Final = """
    manager mgr supervisor supv spv sup boss head leader lead chief director owner author creator editor reviewer
    approver assignee assigner reporter requester sender receiver recipient advisor adviser mentor instructor teacher
    coach captain president principal operator responsible created updated modified approved assigned reported handled
    closed sold served by rep representative salesperson buyer byr seller follower friend inspector examiner auditor
    handler doctor physician nurse surgeon prescriber assistant driver guard guarantor borrower lender holder payer
    payee tenant landlord host guest recruiter consultant tutor guardian planner cashier clerk sponsor partner spouse
    foreman trainer caretaker drv to mechanic engineer pilot chef cook waiter judge referee umpire curator restorer
    conservator guide journalist translator photographer designer developer tester architect lawyer attorney counsel
    paralegal secretary accountant bookkeeper officer deputy therapist dentist veterinarian vet midwife carer
    pharmacist scorer clinician interviewer organiser organizer dispatcher
"""
_PARTY_WORDS: Final = "partner ptnr party company organization organisation firm business counterparty"
_PARTY_ROLE_WORDS: Final = """
    supplier supp vendor customer cust client manufacturer maker insurer carrier operator contractor subcontractor
    dealer distributor wholesaler retailer agency landlord owner broker sponsor payer payee sender receiver recipient
    buyer seller lender borrower
"""
_OTHER_ROW_WORDS: Final = """
    parent super previous prev next root predecessor successor ancestor original reply prereq prerequisite into
    duplicate replaces replaced superseded copied forked referred referrer referral
"""
_MEASURE_WORDS: Final = """
    age year month day date time count quantity qty amount amt price cost total sum number rank position score point
    rating rate grade level salary weight height width length size percent pct perc population capacity duration
    distance lat latitude long longitude lng order sequence seq version floor round storey page volume season week hour
    minute temperature balance budget revenue sale profit credit hrs phone fax zip postal stock stk
"""
_OTHER_SYSTEM_WORDS: Final = """
    legacy old former external ext foreign source src sap crm erp stripe salesforce hubspot shopify vendor supplier
    manufacturer bank partner import imported migrated
"""
_COUNTING_WORDS: Final = "max min maximum minimum num number nr count total sum avg average"
_ORDER_WORDS: Final = "sort seq sequence row page version"
_NOT_IDENTIFIERS: Final = """
    paid valid void avoid solid grid bid kid mid said fluid hybrid android humid rapid acid lid rid liquid casino piano
    volcano domino monkey turkey hockey jockey money barcode
"""


def _bare(word: str) -> str:
    """The word without a final ``e``, since ``campuses`` and ``campus`` have to meet."""
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _known(text: str) -> frozenset[str]:
    """The words as ``tokens`` gives them."""
    return frozenset(map(_bare, words(text)))


IDENTIFIERS: Final = _known(_IDENTIFIER_WORDS)
"""Words at the end of a column's name that say that it identifies something."""

_TITLES: Final = _known("name title")
_NOISE: Final = _known(_NOISE_WORDS)
"""Words of table names that say nothing about what a row is."""

_PERSONS, _PARTIES, _UP = _known(_PERSON_WORDS), _known(_PARTY_WORDS), _known(_OTHER_ROW_WORDS)
_ROLES, _PARTY_ROLES = _known(_ROLE_WORDS) | _PERSONS, _known(_PARTY_ROLE_WORDS)
_OTHER_SYSTEMS: Final = _known(_OTHER_SYSTEM_WORDS)
"""Words before a table's own key that make it the number of the same row elsewhere: ``legacy_order_id``."""

_NO_THINGS: Final = _known(_ORDER_WORDS)
"""Words that abbreviate nothing before a number: ``sort_no``."""

_COUNTING: Final = _known(_COUNTING_WORDS)
"""Words before things that make a number of them: ``max_guests``, ``number_of_rooms``."""

MEASURES: Final = _known(_MEASURE_WORDS) | _NO_THINGS
"""Words at the end of names of columns that measure, count or order something."""

_FIRST_NAME: Final = regex(r"(first|fst|frst|given|fore?|f)(nam|nm)")
_LAST_NAME: Final = regex(r"(last|lst|family|fam|sur|l)(nam|nm)")
_ANY_NAME: Final = regex(r"(nam|nm|mail|login)$")
_BIRTH: Final = _known("birth birthday birthdate dob born")
_MOMENTS: Final = frozenset({"at", "on"})
_GLUED: Final = regex(r"(?P<stem>[^\W\d_]+?)_?(?P<end>id|no|num|cod|key|nr)")
_WORDS_IN_ID: Final = _known(_NOT_IDENTIFIERS)
"""Words that end like an identifier and are not one."""

OWN: Final = 6
"""``ownership`` of a column that is called exactly like the key of its table."""

Tokens = tuple[str, ...]


@lru_cache(maxsize=100_000)
def tokens(name: str) -> Tokens:
    """The words of a name in one form: in lower case, singular, without a final ``e``."""
    return tuple(_bare(word) for word in words(name))


@dataclass(frozen=True, slots=True)
class Name:
    """A column's name: all its words, those before the identifier at its end, and that end."""

    tokens: Tokens
    stem: Tokens
    end: str = ""
    glued: str = ""
    """What is before ``id`` in a word such as ``dormid``; empty where nothing is."""

    @property
    def joined(self) -> str:
        """All words in one, so that ``StuID`` and ``stuid`` are the same."""
        return "".join(self.tokens)


@lru_cache(maxsize=100_000)
def column_name(name: str) -> Name:
    """The parts of a column's name."""
    every = tokens(name)
    if len(every) > 1 and every[0] in ("fk", "id", "pk", "sk"):
        return Name(every, every[1:-1] if every[-1] in IDENTIFIERS and len(every) > 2 else every[1:], "id")
    if every and (every[-1] in IDENTIFIERS or every[-1] in _TITLES):
        return Name(every, every[:-1], every[-1])
    if every and (match := _GLUED.fullmatch(every[-1])) and every[-1] not in _WORDS_IN_ID:
        return Name(every, every[:-1], match["end"], match["stem"])
    return Name(every, every)


@lru_cache(maxsize=100_000)
def table_words(name: str) -> Tokens:
    """The words of a table's name without its schema and without words that say nothing."""
    every = tokens(name.rpartition(".")[2])
    return tuple(word for word in every if word not in _NOISE) or every


def without_namespaces(schema: Schema) -> dict[str, str]:
    """By table its name without the application's, which several have before their own: ``tickets_ticket``.

    A word stays that is itself the name of a table, as in ``orders`` and ``order_items``; that a column refers to, as
    ``user_id`` does, unless there is a ``user_user``; or that a column has together with the rest of a table's name, as
    ``regular_order_id`` of ``regular_orders``.
    """
    called = {table.name: table_words(table.name) for table in schema.tables}
    stems = {column_name(column.name).stem for table in schema.tables for column in table.columns}
    beginnings = Counter(name[0] for name in called.values() if len(name) > 1)
    parts = {name[0] for name in called.values() if len(name) == 1 or name in stems}
    parts |= {stem[0] for stem in stems if len(stem) == 1 and (*stem, *stem) not in called.values()}
    spaces = {word for word, count in beginnings.items() if count > 1} - parts
    return {
        table: "_".join(name[1:]) if len(name) > 1 and name[0] in spaces else table for table, name in called.items()
    }


Heads = Mapping[str, Counter[Tokens]]
"""By last word the names of the tables that end with it, and how many tables are called so."""


@dataclass(frozen=True, slots=True)
class Entity:
    """What the rows of a table are, as far as columns refer to them by name.

    ``heads``, which all tables of a schema share, tells what else is called like it: ``ward_id`` is of ``wards``, not
    of ``ward_stays``, if there are both.
    """

    words: Tokens
    persons: bool = False
    """Whether a row is a person."""
    heads: Heads = field(default_factory=dict, repr=False, compare=False)

    def is_other(self, name: Tokens) -> bool:
        """Whether this is what another table is called."""
        return name != self.words and name in self.heads.get(name[-1], ())

    def variants(self, key: Name) -> set[Tokens]:
        """What one row may be called: its whole name, the last word or the first, and what its key is called."""
        every = {self.words, self.words[-1:], self.words[:1], key.stem}
        if key.glued:
            every.add((*key.stem, key.glued))
        return {variant for variant in every if variant and not self.is_other(variant)}

    def is_headed(self, stem: Tokens, within: Entity | None) -> bool:
        """Whether the stem is the last word of this name and of no other: ``order_id`` and ``customer_orders``.

        The name of the column's own table, ``within``, may end with it too.
        """
        if stem != self.words[-1:]:
            return False
        tables = self.heads.get(stem[0], Counter()).items()
        return not any(count > (name == self.words) for name, count in tables if within is None or name != within.words)


def entities(schema: Schema) -> dict[str, Entity]:
    """By table what its rows are."""
    called = {table: table_words(name) for table, name in without_namespaces(schema).items()}
    heads: dict[str, Counter[Tokens]] = defaultdict(Counter)
    for name in called.values():
        heads[name[-1]][name] += 1
    return {
        table.name: Entity(called[table.name], _holds_persons(table, called[table.name]), heads)
        for table in schema.tables
    }


def _holds_persons(table: Table, called: Tokens) -> bool:
    """Whether rows are persons: those of the name who have one themselves, or by columns that only persons have.

    The latter are a first and a last name, or a day of birth. Of ``team_members`` with keys alone no row is a person.
    """
    listed = [tokens(column.name) for column in table.columns]
    joined = ["".join(name_tokens) for name_tokens in listed]
    if any(map(_FIRST_NAME.search, joined)) and any(map(_LAST_NAME.search, joined)):
        return True
    return any(_BIRTH & set(name_tokens) for name_tokens in listed) or (
        bool(_PERSONS & set(called)) and any(map(_ANY_NAME.search, joined))
    )


def is_title(name: str) -> bool:
    """Whether a column is called a name or title of something."""
    end = column_name(name).end
    return end in _TITLES


def is_identifier(name: str) -> bool:
    """Whether a column's name ends like that of an identifier."""
    end = column_name(name).end
    return bool(end) and end not in _TITLES


def ownership(entity: Tokens, column: str) -> int:
    """How much a column is called like the key of its own table, from 0 to ``OWN``; ``entity``: the table's words.

    Most for ``id``, ``code`` or ``customer_id`` of ``customers``, then ``building_id`` of ``apartment_buildings``,
    ``product_id`` of ``products_for_hire``, ``dept_no`` of ``departments``, ``stu_id`` of ``student_details`` and of
    ``new_students``; 0 for others.
    """
    name = column_name(column)
    if not name.end:
        return OWN if name.tokens == entity else 0
    stem = (*name.stem, name.glued) if name.glued else name.stem
    if name.end in _TITLES:
        return 0
    if not stem or stem == entity or "".join(stem) == "".join(entity):
        return OWN
    if stem == entity[-1:]:
        return 5
    if _run(stem, entity):
        return 4
    short = "".join(stem)
    if not _abbreviates(short, entity):
        return 0
    return 3 if len(entity) == 1 else 2 if _abbreviates(short, entity[:1]) else 1


def relation(column: str, entity: Entity, key: str, *, within: Entity | None = None, identifies: bool = False) -> str:
    """How ``column`` relates by name to ``key`` of a table, one of ``RELATIONS``; empty if it does not.

    ``entity`` is what the key's table is, ``within`` what the column's table is; ``identifies``: the key identifies the
    rows, whatever it is called.
    """
    child, parent = column_name(column), column_name(key)
    if child.joined == parent.joined and within is not entity:
        if not parent.stem and not parent.glued:
            return "plain" if parent.end and parent.end not in _TITLES else ""
        if ownership(entity.words, key):
            return "owner"
        return "same" if parent.tokens[-1] not in _MOMENTS else ""
    if not identifies and not _ends(child.tokens, parent.tokens):
        return ""
    return _to_entity(child, parent, entity, within)


def _to_entity(child: Name, parent: Name, entity: Entity, within: Entity | None) -> str:
    """The relation of a column to the key of what an ``entity`` is."""
    same_table = within is entity
    stem = (*child.stem, child.glued) if child.glued else child.stem
    if not stem or (child.end in _TITLES and parent.end not in _TITLES):
        return ""
    sure = bool(child.end) and child.end not in _TITLES
    if not sure and len(stem) > 1 and stem[0] in _COUNTING:
        return ""
    named = entity.variants(parent)
    whole = "".join(stem) == "".join(entity.words)
    if not same_table and (stem in named or whole):
        is_part = not whole and len(entity.words) > 1 and stem in (entity.words[:1], entity.words[-1:])
        if is_part and not entity.is_headed(stem, within):
            return "part"
        return "owner" if sure else "entity"
    if same_table and set(stem) & _OTHER_SYSTEMS and not set(stem) & _UP:
        return ""
    longer = [variant for variant in named if len(stem) > len(variant)]
    if any(_ends(stem, variant) for variant in longer):
        return "parent" if same_table else "role" if sure else "role entity"
    if sure and not same_table and any(stem[: len(variant)] == variant for variant in longer):
        return "role"
    if parent.stem and len(child.tokens) > len(parent.tokens) and _ends(child.tokens, parent.tokens):
        return "parent" if same_table else "role"
    if same_table:
        return "parent" if set(stem) & _UP else _of_person(stem, entity, sure=sure)
    return _abbreviation(stem, entity, sure=sure) or _of_person(stem, entity, sure=sure)


def _abbreviation(stem: Tokens, entity: Entity, *, sure: bool) -> str:
    if entity.is_other(stem[-1:]) or stem[-1] in (_NO_THINGS if sure else MEASURES):
        return ""
    how = _abbreviates("".join(stem), entity.words) or (
        _abbreviates(stem[-1], entity.words) if len(stem[-1]) > 2 else 0
    )
    if how and (sure or how > 2 or (how > 1 and len(entity.words) == 1)):
        return "abbreviation" if how > 1 else "initials"
    return ""


def _of_person(stem: Tokens, entity: Entity, *, sure: bool) -> str:
    role = set(stem) if sure else {stem[-1]}
    persons = entity.persons and role & _ROLES
    parties = set(entity.words) & _PARTIES and role & _PARTY_ROLES
    return "person" if persons or parties else ""


def _run(stem: Tokens, entity: Tokens) -> bool:
    """Whether the stem is a run of the words of a table's name."""
    return any(True for _ in positions(stem, entity))


def _ends(name: Tokens, end: Tokens) -> bool:
    return len(end) <= len(name) and name[len(name) - len(end) :] == end


@lru_cache(maxsize=200_000)
def _abbreviates(short: str, entity: Tokens) -> int:
    """3 for a beginning of three letters or more, 2 for letters in order, 1 for initials, 0 for nothing."""
    whole = "".join(entity)
    if not short or not whole or len(short) >= len(whole) or short[0] not in {word[0] for word in entity}:
        return 0
    if len(short) > 2 and (whole.startswith(short) or any(word.startswith(short) for word in entity)):
        return 3
    if len(short) > 2 and short[0] == whole[0] and _in_order(short, whole):
        return 2
    initials = "".join(word[0] for word in entity)
    return 1 if short == initials or (len(short) <= 2 and whole.startswith(short)) else 0


def _in_order(short: str, whole: str) -> bool:
    letters = iter(whole)
    return all(letter in letters for letter in short)
