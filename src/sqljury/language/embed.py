"""Texts as vectors: averages of the static word vectors that ``wordllama`` carries in its wheel.

Its files are read where they lie and its code is not run: importing it would set up the caller's logging.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    F32 = NDArray[np.float32]

_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_lock = threading.Lock()


class _Model(NamedTuple):
    tokenizer: Any
    table: Any  # a vector for each token


def available() -> str:
    """The name of the vectors that would be used, empty where they are not installed."""
    folder = _folder()
    return Path(_WEIGHTS).stem if folder and find_spec("tokenizers") and (folder / _WEIGHTS).is_file() else ""


def _folder() -> Path | None:
    spec = find_spec("wordllama")
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) if folders else None


@lru_cache(1)
def _model() -> _Model:
    """The tokenizer, and the vectors mapped from the wheel's file; its layout is that of safetensors."""
    import numpy as np
    from tokenizers import Tokenizer

    folder = _folder()
    assert folder is not None
    with open(folder / _WEIGHTS, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        tensor = json.loads(file.read(length))["embedding.weight"]
    begin, _ = tensor["data_offsets"]
    table = np.memmap(folder / _WEIGHTS, np.float16, "r", 8 + length + begin, tuple(tensor["shape"]))
    return _Model(Tokenizer.from_file(str(folder / _TOKENIZER)), table)


def vectors(texts: Sequence[str]) -> F32:
    """Unit vectors of the texts, a row each; zeros for an empty text."""
    import numpy as np

    table = _model().table
    means = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
    for row, text in enumerate(texts):
        if found_tokens := tokens(text):
            mean = table[found_tokens].astype(np.float32).mean(axis=0)
            means[row] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return means


def whole_words() -> list[str]:
    """The words that are one token, the commoner first, without the mark of their beginning."""
    vocabulary: dict[str, int] = _model().tokenizer.get_vocab()
    return [token[1:] for token in sorted(vocabulary, key=vocabulary.__getitem__) if token.startswith("▁")]


def is_token(word: str) -> bool:
    """Whether the model has the word whole."""
    return len(tokens(word)) == 1


@lru_cache(100_000)
def tokens(text: str) -> list[int]:
    """The numbers of the pieces that the model knows a text by."""
    # One by one: the tokenizer's own threads would not survive a fork. Lone surrogates it does not take.
    with _lock:
        tokenizer = _model().tokenizer
    numbers: list[int] = tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False).ids
    return numbers
