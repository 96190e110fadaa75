"""The page: a frame that the server renders, and assets of the package; what it shows it gets from the API."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sqljury.web import bodies
from sqljury.web.problems import ProblemError
from sqljury.web.server import COOKIE, TheServer, known_client
from sqljury.web.tokens import LOGIN_SECONDS

router = APIRouter(include_in_schema=False)

VENDOR: Final = "vendor"
"""Files of others, which the page loads when a chart is shown."""

_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file of the page, as it is and compressed, with the digest that its address has."""

    content: bytes
    compressed: bytes
    kind: str
    digest: str


@cache
def assets() -> Mapping[str, Asset]:
    """The files of the page by name."""
    folder = resources.files(__package__).joinpath("assets")
    files = (*folder.iterdir(), *folder.joinpath(VENDOR).iterdir())
    read = {file.name: file.read_bytes() for file in files if file.name.rpartition(".")[2] in _TYPES}
    # One digest for all: modules import each other by plain names.
    digest = hashlib.sha256(b"\0".join(read[name] for name in sorted(read))).hexdigest()[:12]
    return {
        name: Asset(content, gzip.compress(content, mtime=0), _TYPES[name.rpartition(".")[2]], digest)
        for name, content in read.items()
    }


@cache
def _templates() -> Environment:
    return Environment(loader=PackageLoader("sqljury.web"), autoescape=True, undefined=StrictUndefined)


def _rendered(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    folder = f"/assets/{next(iter(assets().values())).digest}"
    return HTMLResponse(_templates().get_template(template).render(assets=folder, **values), status)


@router.head("/", include_in_schema=False)
@router.get("/")
async def home(request: Request, server: TheServer) -> Response:
    """The page of a client; whoever is not known is asked for a token first."""
    client = known_client(request)
    if client is None:
        return RedirectResponse("/login", 303)
    served = server.databases.served
    shares = server.databases.shares
    databases = [(name, served[name].engine, shares(name) or "local") for name in server.databases.names(client)]
    limits = {"question": bodies.QUESTION_CHARS, "evidence": bodies.EVIDENCE_CHARS}
    return _rendered(
        "ask.html", databases=databases, client=client.name if server.tokens is not None else "", limits=limits
    )


@router.get("/login")
async def login(server: TheServer) -> Response:
    """The form for a token."""
    if server.tokens is None:
        return RedirectResponse("/", 303)
    return _rendered("login.html", wrong=False)


@router.post("/login")
async def log_in(request: Request, server: TheServer) -> Response:
    """Exchange a token for a cookie that scripts cannot read and other sites cannot send."""
    if server.tokens is None:
        return RedirectResponse("/", 303)
    client = server.tokens.client(_token((await request.body()).decode("utf-8", "replace")))
    if client is None:
        return _rendered("login.html", 401, wrong=True)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        server.tokens.log_in(client),
        max_age=LOGIN_SECONDS,
        httponly=True,
        samesite="strict",
        secure=server.settings.https,
    )
    return response


def _token(form: str) -> str:
    """The token in the form; empty where there is none, and for a form with fields that the page does not have."""
    try:
        return parse_qs(form, max_num_fields=10).get("token", [""])[0].strip()
    except ValueError:
        return ""


@router.post("/logout")
async def log_out(request: Request, server: TheServer) -> Response:
    """Forget the cookie, here and in the browser."""
    if server.tokens is not None:
        server.tokens.log_out(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response


@router.get("/assets/{version}/{name}")
async def asset(request: Request, version: str, name: str) -> Response:
    """A file of the page; its address changes with its content, so that browsers keep it."""
    file = assets().get(name)
    if file is None or version != file.digest:
        raise ProblemError(404, "not-found", "there is no such file; load the page again")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.compressed, media_type=file.kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.content, media_type=file.kind, headers=headers)


@router.get("/favicon.ico")
async def icon() -> Response:
    """The mark, for browsers that ask for it by this name."""
    return Response(assets()["mark.svg"].content, media_type="image/svg+xml")
