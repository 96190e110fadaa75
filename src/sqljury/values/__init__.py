"""The value index: finds the values of a database that a question may mean, however it spells or names them."""

from sqljury.values.collect import Bounds
from sqljury.values.index import ValueIndex, build, index_path, open_or_build
from sqljury.values.search import Match

__all__ = ["Bounds", "Match", "ValueIndex", "build", "index_path", "open_or_build"]
