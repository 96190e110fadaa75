"""The context folder: databases by name, notes, glossary and approved examples, kept in git (docs/project.md)."""

from sqljury.project.folder import Approved, Known, Project, find, is_name, load

__all__ = ["Approved", "Known", "Project", "find", "is_name", "load"]
