"""Where the rows of an answer come from: a query in plain words, and counts of what it does to rows unseen."""

from sqljury.sql.provenance.probes import Probe, probes, unprobed
from sqljury.sql.provenance.steps import steps

__all__ = ["Probe", "probes", "steps", "unprobed"]
