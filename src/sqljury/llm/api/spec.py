"""The names of services' models, which key each service may be sent, and the masking of keys in texts of others.

openai:gpt-5-mini                               the vendor's own service
openai:qwen2.5-coder:7b@http://127.0.0.1:11434/v1   any server that speaks the vendor's protocol
"""

from __future__ import annotations

import base64
import codecs
import ipaddress
import logging
import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sqljury.errors import InputError, ModelAuthError

_log = logging.getLogger(__name__)

HOSTS = {"openai": "openai.com", "anthropic": "anthropic.com", "gemini": "googleapis.com"}
KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
OTHER_KEY_VARIABLE = "SQLJURY_API_KEY"

_MARK = "[key]"
_OTHER_VARIABLES = (OTHER_KEY_VARIABLE, "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN")
_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?<=Bearer )\S+|(?<=://)[^/\s@]+(?=@)"
)
_SHORTEST = 6  # what is shorter is a stand-in such as "none", and would be found inside of words
_PART: Final = 8
"""Characters of a key that are masked by themselves: a key may come in pieces."""
_LONG: Final = 16
"""The length of a key from which on a match of ``_PART`` characters is not an accident."""
_MOST_CHARS: Final = 20_000
"""Of a message; no more than its first line or so is ever shown."""


class ApiSpec(NamedTuple):
    """A vendor's protocol, a model there, and the server's address where it is not the vendor's own."""

    vendor: str
    model: str
    base_url: str | None = None

    @property
    def name(self) -> str:
        """The text this was read from."""
        return f"{self.vendor}:{self.model}" + (f"@{self.base_url}" if self.base_url else "")

    @property
    def on_loopback(self) -> bool:
        """The server runs on this machine."""
        return self.base_url is not None and _is_loopback(urlsplit(self.base_url).hostname or "")


def parse_spec(text: str) -> ApiSpec:
    """Read ``VENDOR:MODEL`` or ``VENDOR:MODEL@URL``; raises ``InputError`` for anything else."""
    match = re.fullmatch(r"([a-z]+):(\S+?)(?:@(https?://\S*))?", text.strip())
    if not match:
        # The text may hold a password, so it is not repeated.
        raise InputError(
            "The model is not of the form VENDOR:NAME or VENDOR:NAME@URL, such as "
            "openai:gpt-5-mini or openai:qwen@http://127.0.0.1:8080/v1."
        )
    vendor, model, url = match.groups()
    if vendor not in KEY_VARIABLES:
        raise InputError(f"There is no model vendor {vendor!r}; known are {', '.join(sorted(KEY_VARIABLES))}.")
    return ApiSpec(vendor, model, _checked(url) if url else None)


def read_key(spec: ApiSpec) -> str | None:
    """The key from the environment, None for a server on this machine that has none.

    A vendor's key is only ever sent to that vendor's own hosts. Raises ``ModelAuthError`` if there is no key.
    """
    variables = KEY_VARIABLES[spec.vendor] if _is_vendors(spec) else (OTHER_KEY_VARIABLE,)
    for variable in variables:
        if key := os.environ.get(variable, "").strip():
            if spec.base_url and spec.base_url.startswith("http:") and not spec.on_loopback:
                _log.warning("%s: the key travels unencrypted, since the address is http", spec.name)
            return key
    if spec.on_loopback:
        return None
    hint = "" if _is_vendors(spec) else " (any text will do if the server asks for none)"
    raise ModelAuthError(f"{spec.name} needs a key: set {' or '.join(variables)}{hint}.")


def _checked(url: str) -> str:
    """The URL without a slash at its end; it must not hold secrets."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError("The model's address is not a URL.") from None
    if not host:
        raise InputError("The model's address names no host.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"The model's address at {host} carries a user name, password or query. Leave them out: "
            f"the key is read from {OTHER_KEY_VARIABLE}."
        )
    return url.rstrip("/")


def _is_vendors(spec: ApiSpec) -> bool:
    if spec.base_url is None:
        return True
    parts = urlsplit(spec.base_url)
    host = HOSTS[spec.vendor]
    return parts.scheme == "https" and f".{parts.hostname}".endswith(f".{host}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def redactor(key: str | None) -> Callable[[str], str]:
    """A function that masks ``key``, every key in the environment, and what looks like one.

    A key is found as it is, backwards, in base64, base32, hex, percent, decimal and escape codes and in ROT13, in any
    case and with any marks or blanks between its characters, and so are parts of a long one.
    """

    def redact(text: str) -> str:
        text = text[:_MOST_CHARS]
        for secret in sorted(_secrets(key), key=len, reverse=True):
            text = text.replace(secret, _MARK)
            text = _masked(text, secret)
        return _LOOKS_LIKE_A_KEY.sub(_MARK, text)

    return redact


def _secrets(key: str | None) -> set[str]:
    variables = [*_OTHER_VARIABLES, *(name for names in KEY_VARIABLES.values() for name in names)]
    values = {(value or "").strip() for value in (key, *map(os.environ.get, variables))}
    return {value for value in values if len(value) >= _SHORTEST}


def _masked(text: str, secret: str) -> str:
    """``text`` without the places where letters and digits alone spell ``secret``, or a part of it, in any form."""
    positions = [at for at, character in enumerate(text) if character.isalnum()]
    flat = "".join(text[at].lower()[:1] for at in positions)
    hidden = bytearray(len(text))
    for width, parts in _parts(secret):
        for at in range(len(flat) - width + 1):
            if flat[at : at + width] in parts:
                first, last = positions[at], positions[at + width - 1]
                hidden[first : last + 1] = b"\x01" * (last + 1 - first)
    if not any(hidden):
        return text
    pieces = re.sub(rb"\x01+", lambda run: b"\x01" + b"\x02" * (len(run[0]) - 1), bytes(hidden))
    return "".join(
        _MARK if mark == 1 else "" if mark == 2 else character for mark, character in zip(pieces, text, strict=True)
    )


@lru_cache(maxsize=64)
def _parts(secret: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """By their width, the pieces of each form of ``secret`` that give it away: the whole of a short one."""
    pieces: dict[int, set[str]] = {}
    for spelling in (secret, secret[::-1]):
        for form in _forms(spelling):
            flat = "".join(character.lower()[:1] for character in form if character.isalnum())
            share = _PART / len(secret) if len(secret) >= _LONG else 1.0
            width = max(_SHORTEST, round(len(flat) * share))
            if len(flat) >= width:
                pieces.setdefault(width, set()).update(flat[at : at + width] for at in range(len(flat) - width + 1))
    return tuple((width, frozenset(parts)) for width, parts in pieces.items())


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode(errors="replace")
    yield secret
    for before in range(3):  # within a longer text it begins at any of three places of a group
        coded = base64.b64encode(b"\0" * before + raw).decode()
        yield coded[(0, 2, 3)[before] : len(coded) - (0, 4, 4)[-(len(raw) + before) % 3]]
    yield base64.b32encode(raw).decode().rstrip("=")
    yield codecs.encode(secret, "rot13")
    for written in ("{:02x}", "{:d}", "x{:02x}", "u{:04x}", "0x{:02x}", "25{:02x}"):
        yield "".join(written.format(byte) for byte in raw)
    # Percent codes are mostly used for what is not a letter.
    yield "".join(c if c.isalnum() and c.isascii() else "".join(f"{b:02x}" for b in c.encode()) for c in secret)
