"""Prompt texts: files under ``prompts/<step>/<name>.md``, rendered strictly, and text from outside made fit for one.

A prompt knows how much of a database's content it may hold: ``Text`` says so, and any other ``str`` may hold rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from sqljury.types.question import LEVELS, Privacy

_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


class Text(str):
    """A text that is known to hold no more of a database's content than ``holds``.

    Whoever builds it vouches for that. What is made of it by ``+``, ``join`` or a format is a plain ``str`` again,
    which may hold anything.
    """

    holds: Privacy

    def __new__(cls, text: str, holds: Privacy = "rows") -> Text:
        made = super().__new__(cls, text)
        made.holds = holds
        return made


def held(*texts: str) -> Privacy:
    """The most that these texts may hold of a database's content."""
    levels = (text.holds if isinstance(text, Text) else "rows" for text in texts)
    return max(levels, key=LEVELS.index, default="schema")


def bullets(lines: Iterable[str]) -> Text:
    """The lines as a list."""
    listed = list(lines)
    return Text("\n".join(f"- {line}" for line in listed), held(*listed))


def render(name: str, holds: Privacy = "rows", **values: str) -> Text:
    """The prompt ``step/name`` with every ``{{ slot }}`` replaced by the value of that name.

    ``holds`` is what values that are not ``Text`` may hold of the database's content.
    Values are inserted as they are and never looked into, so content that holds slots stays text. Raises
    ``KeyError`` for a slot without a value or a value without a slot: a prompt that lacks a part is a bug.
    """
    text = _load(name)
    slots = set(_SLOT.findall(text))
    if slots != set(values):
        raise KeyError(f"prompt {name} has the slots {sorted(slots)}, got values for {sorted(values)}")
    known = (value if isinstance(value, Text) else Text(value, holds) for value in values.values())
    return Text(_SLOT.sub(lambda match: values[match[1]], text), held(*known))


@cache
def _load(name: str) -> str:
    return (files("sqljury") / "prompts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


# Special tokens of chat templates, by their published tokenizer configurations. What stands between angle brackets is
# compared without its slash, in small letters; a name of several words (``tool_call``, ``seed:think``) is one anyway.
_ANGLED: Final = frozenset(
    """
    s unk pad bos eos sep cls mask eot eod eoh eoa eop sop pre suf mid sys human bot user assistant system developer
    think thinking thought reasoning answer response tools toolcall toolresponse function functions parameter invoke
    step image video audio filename reponame turn channel message
    """.split()  # noqa: SIM905 - the words are read easier so
)
_BRACKETED: Final = (
    "INST SYS SYSTEM_PROMPT AVAILABLE_TOOLS TOOL_CALLS TOOL_RESULTS TOOL_CONTENT MODEL_SETTINGS ARGS CALL_ID THINK "
    "IMG IMG_BREAK IMG_END AUDIO BEGIN_AUDIO TRANSCRIBE PREFIX MIDDLE SUFFIX BOS EOS EOT PAD UNK MASK gMASK sMASK "
    "start_header_id end_header_id"
)
_INVISIBLE: Final = "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
_FEW: Final = f"[{_INVISIBLE}]*"
_LESS, _MORE, _BAR = "<＜﹤", ">＞﹥", "|｜"
_MARK: Final = re.compile(
    rf"""
      [{_LESS}](?={_FEW}[{_BAR}]{_FEW}\S)                                     # <|im_start|>, <｜User｜>
    | [{_LESS}](?=[^\s{_LESS}{_MORE}]{{1,80}}[{_BAR}]{_FEW}[{_MORE}])         # <turn|>
    | [{_LESS}](?={_FEW}[{_LESS}](?:{_FEW}[/／])?{_FEW}(?:SYS|ＳＹＳ){_FEW}[{_MORE}])   # <<SYS>>
    | [{_LESS}](?=(?P<angled>[^\s{_LESS}{_MORE}]{{1,80}}?)[{_MORE}])          # <tool_call>, </think>, <function=f>
    | <(?=(?:invoke|function|parameter|tool|tool_call)\s+\w+\s*=\s*["'])        # <invoke name="f">
    | [\[［](?={_FEW}[{_BAR}]{_FEW}\w)                                        # [|user|]
    | [\[［](?=[/／]?(?:{_BRACKETED.replace(" ", "|")})[\]］])                # [INST]
    | [\[［](?=@|extra_id_|UNUSED_TOKEN)(?=[^\s\[\]]{{1,40}}[\]］])           # [@BOS@]
    | \](?=~!?b[\]\[])|\[(?=e~\[)|\](?=!p~\[)                                # MiniMax
    | >(?=>[A-Z_]{{4,20}}<<)                                                 # Falcon
    """,
    re.VERBOSE,
)
_HIDDEN: Final = re.compile(f"[{_INVISIBLE}]")
_SEVERAL_WORDS: Final = re.compile(r"[a-z0-9]*[a-z][a-z0-9]*(?:[_:▁-][a-z0-9]+)+")
_NUMBERED: Final = re.compile(r"(?:unused|reserved|special|extra|byte)[_-]?\d+|0x[0-9a-f]{2}")
_CALLS: Final = frozenset({"function", "parameter", "invoke", "tool", "tool_call"})


def unmarked(text: str) -> str:
    """``text`` with every mark of a chat template broken by a blank after its first character.

    A model's tokenizer takes such a mark for the end of a turn or the start of a call, wherever it stands. Every
    ``Message`` goes through here, so that no name, value, comment, question, query, error or earlier reply can be
    taken for more than text; text without marks stays byte for byte what it is, and ``Text`` stays ``Text``.
    """
    broken = _MARK.sub(_broken, text)
    return Text(broken, text.holds) if isinstance(text, Text) else broken


def _broken(match: re.Match[str]) -> str:
    angled = match["angled"]
    return match[0] if angled is not None and not _is_mark(angled) else f"{match[0]} "


def _is_mark(inner: str) -> bool:
    """Whether what stands between ``<`` and ``>`` makes a mark of them, rather than a tag of HTML or a placeholder."""
    word = _HIDDEN.sub("", unicodedata.normalize("NFKC", inner)).casefold().strip("/")
    if word in _ANGLED or _NUMBERED.fullmatch(word) or _SEVERAL_WORDS.fullmatch(word):
        return True
    called, equals, _ = word.partition("=")
    return bool(equals) and called in _CALLS
