"""The value index: finds the values of a database that a question may mean, however it spells or names them."""

from sqljury.schema.values.collect import Bounds
from sqljury.schema.values.index import ValueIndex, build, index_path, open_or_build
from sqljury.schema.values.search import Match

__all__ = ["Bounds", "Match", "ValueIndex", "build", "index_path", "open_or_build"]
