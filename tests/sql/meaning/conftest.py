from __future__ import annotations

from answered import answered

__all__ = ["answered"]
