"""Files."""
from __future__ import annotations
from sqljury.db.base import Database
def is_data(path: str) -> bool:
    return False
def open_files(path: str, schemas: tuple[str, ...]) -> Database:
    raise NotImplementedError
