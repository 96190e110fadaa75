"""The corpora of hostile statements lie beside the tests of databases and of access rules."""

from __future__ import annotations

import sys
from pathlib import Path

for _name in ("db", "access"):
    _folder = str(Path(__file__).parents[1] / _name)
    if _folder not in sys.path:
        sys.path.append(_folder)
