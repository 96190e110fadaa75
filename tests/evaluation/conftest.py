"""The fixtures that tests of judging share."""

from judging import data, files, folder, judge, suite

__all__ = ["data", "files", "folder", "judge", "suite"]
