"""The one spelling under which values and what is searched for meet."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_DOT_OF_INITIAL: Final = re.compile(r"(?<=\b\w)\.")
_QUOTES: Final = re.compile("['’‘`´]")
_NO_WORD: Final = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Lower case without accents, words apart by one blank: ``Côte d'Ivoire`` is ``cote divoire``, ``U.S.`` ``us``.

    Text without a letter or digit stays as it is, but for its blanks; blank text becomes empty.
    """
    if text.isascii() and text.isalpha():
        return text.lower()
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    else:
        plain = text
    words = _NO_WORD.sub(" ", _QUOTES.sub("", _DOT_OF_INITIAL.sub("", plain.casefold()))).strip()
    return words or " ".join(text.replace("\0", "\ufffd").split())
