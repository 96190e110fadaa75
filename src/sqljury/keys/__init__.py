"""Keys that nobody declared: inferred from names, types and values, kept beside the value index."""

from sqljury.keys.known import known_schema

__all__ = ["known_schema"]
