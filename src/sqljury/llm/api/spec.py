"""What a model of a service is called on the command line, and which key it may be sent.

openai:gpt-5-mini                               the vendor's own service
openai:qwen2.5-coder:7b@http://127.0.0.1:11434/v1   any server that speaks the vendor's protocol
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
from typing import NamedTuple
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
    """The URL without a slash at its end; secrets have no place in it."""
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
