"""The fixtures that tests of workers share."""

from judging import data

__all__ = ["data"]
