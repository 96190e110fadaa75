"""How a process that Python runs code in imports some modules of the package and not all of it.

The package's own start imports nearly all, which takes longer than most of what such processes do.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
"""The folder of the package, to be the last argument of a process that runs ``BARE``."""

BARE: Final = "sys.modules['sqljury'] = type(sys)('sqljury'); sys.modules['sqljury'].__path__ = [sys.argv[-1]]"
"""Code that comes before the first import of a module of the package, after ``import sys``."""
