"""The dataset that tests of judging share."""

from judging import data

__all__ = ["data"]
