"""The words that `large_schema.py` makes its tables and questions of; written before retrieval was tuned.

In `large_words.txt` an entity is `name (what else people call it): attribute=paraphrase/paraphrase, ... > what it
refers to`; an attribute that ends in `#` holds numbers, one in `@` dates. How a domain spells its names is the second
word of its first line: `plain` orders.total_amount, `short` txn_hdr.pmt_amt, `camel` PatientVisit.admissionDate,
`upper` WRK_ORD.STRT_DT, `own` students.stu_birth_date. The third is the prefix of its tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

DOMAINS: Final = Path(__file__).with_name("large_words.txt").read_text(encoding="utf-8")

SHORT: Final = {
    "number": "no",
    "account": "acct", "address": "addr", "amount": "amt", "appointment": "appt", "arrival": "arrv",
    "balance": "bal", "budget": "bdgt", "center": "ctr", "code": "cd", "count": "cnt", "currency": "ccy",
    "customer": "cust", "customs": "cstm", "date": "dt", "declaration": "decl", "delivery": "dlvr",
    "depreciation": "depr", "description": "desc", "destination": "dest", "distance": "dist", "driver": "drvr",
    "employee": "emp", "entity": "ent", "exchange": "exch", "expense": "exp", "freight": "frt", "general": "gen",
    "invoice": "inv", "item": "itm", "journal": "jrnl", "ledger": "ldgr", "legal": "lgl", "license": "lic",
    "location": "loc", "machine": "mach", "maintenance": "maint", "manufacturer": "mfr", "material": "matl",
    "maximum": "max", "minimum": "min", "movement": "mvmt", "name": "nm", "operator": "oper", "order": "ord",
    "origin": "orig", "package": "pkg", "pallet": "plt", "part": "prt", "payment": "pmt", "period": "prd",
    "phone": "ph", "planned": "pln", "position": "pos", "price": "prc", "production": "prod", "purchase": "purch",
    "quality": "qual", "quantity": "qty", "rate": "rt", "receipt": "rcpt", "reference": "ref", "report": "rpt",
    "requisition": "req", "revision": "rev", "route": "rte", "schedule": "sched", "sequence": "seq",
    "shipment": "shpmt", "shipping": "shpg", "start": "strt", "status": "stat", "stock": "stk",
    "supplier": "supp", "temperature": "temp", "total": "tot", "tracking": "trk", "transport": "trnsp",
    "type": "typ", "value": "val", "vehicle": "veh", "warehouse": "whse", "weight": "wgt", "work": "wrk",
}  # fmt: skip
"""How `short` and `upper` domains abbreviate; words that are not here are cut to their first six letters."""

VARIANTS: Final = {
    "{}_archive": ("archived {}", "old {} from the archive"),
    "{}_2019": ("{} of the 2019 table",),
    "{}_2021": ("{} of the 2021 table",),
    "stg_{}": ("staged {}", "{} in staging"),
    "{}_audit": ("audit trail of {}", "{} audit"),
    "{}_bak": ("backup of {}",),
    "{}_hist": ("historical {}", "{} history"),
    "tmp_{}_load": ("{} of the temporary load",),
}
"""Near-duplicates of a table, and how people ask for them."""

_AUDIT: Final = """
    created_at created_by updated_at updated_by is_deleted row_version tenant_id source_system etl_batch_id external_ref
    sort_order remarks_internal sync_status last_sync_at checksum import_file legacy_id record_status effective_from
    effective_to approved_flag lock_owner
"""
AUDIT: Final = _AUDIT.split()
JUNK: Final = ("attr_{:02d}", "udf_text_{}", "udf_num_{}", "flag_{}", "reserved_{}", "ext_field_{:02d}", "filler_{}")

ONE: Final = (
    "List the {c} of every {t}.",
    "What is the average {c} of all {ts}?",
    "How many {ts} have a {c} above the usual?",
    "Which {ts} have the highest {c}?",
    "Show {c} and {d} of the {ts}.",
    "Give me the {ts} sorted by {c}.",
)
MORE: Final = (
    "For each {t}, show the {c} of its {u} with its {e}.",
    "Which {ts} belong to a {u} whose {e} is not known?",
    "What is the {c} of the {ts} with the most {us}?",
    "Count the {ts} per {e} of the {u}.",
    "Show the {c} of {ts} together with the {e} of their {us}.",
    "How many {us} does the {t} with the greatest {c} have?",
)
