"""Who may reach a server: tokens and their rights, Host, Origin, headers, and what it refuses to start with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from web_servers import Serve, token_file

from sqljury.errors import InputError
from sqljury.web.databases import named
from sqljury.web.settings import Settings
from sqljury.web.tokens import Tokens, digest, entry, new_token

ASK = {"database": "people", "question": "Who is tall?"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1@evil", "", "["]
)
def test_a_foreign_host_is_refused(serve: Serve, host: str) -> None:
    response = serve().get("/v1/databases", headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "foreign-host")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
def test_names_of_loopback_are_known(serve: Serve, host: str) -> None:
    assert serve().get("/v1/databases", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_sites_are_refused(serve: Serve, headers: dict[str, str]) -> None:
    response = serve().post("/v1/ask", json=ASK, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "foreign-origin")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/v1/search?text=Ann", "/v1/schema", "/v1/history", "/v1/openapi.json", "/metrics"])
def test_other_sites_cause_no_work_by_an_address(serve: Serve, path: str, site: str) -> None:
    client = serve()
    for method in ("GET", "HEAD"):
        assert client.request(method, path, headers={"Sec-Fetch-Site": site}).status_code == 403
    for own in ("same-origin", "none"):
        assert client.get(path.replace("?", "?database=people&"), headers={"Sec-Fetch-Site": own}).status_code != 403


def test_a_link_of_another_site_leads_to_the_page(serve: Serve) -> None:
    for path in ("/", "/login"):
        assert serve().get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_the_own_page_is_not(serve: Serve) -> None:
    headers = {"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"}
    assert serve().post("/v1/ask", json=ASK, headers=headers).status_code == 200


def test_every_response_has_the_headers(serve: Serve) -> None:
    client = serve()
    for response in (client.get("/"), client.get("/v1/nothing"), client.get("/healthz", headers={"Host": "evil"})):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-request-id"]


@pytest.mark.parametrize(("given", "kept"), [("abc-1.2", True), ("a b", False), ("x" * 65, False), ("ä", False)])
def test_request_ids_of_clients_are_kept_if_harmless(serve: Serve, given: str, kept: bool) -> None:
    response = serve().get("/healthz", headers={"X-Request-ID": given.encode()})
    assert (response.headers["x-request-id"] == given) is kept


def test_a_token_is_needed_and_opens_its_databases_only(serve: Serve) -> None:
    file, headers = token_file(ann="", bo='databases = ["other"]')
    client = serve(tokens=file)
    assert client.get("/healthz").status_code == 200
    for path in ("/v1/databases", "/v1/history", "/v1/models", "/metrics", "/v1/schema"):
        response = client.get(path)
        assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer"), path
    assert client.post("/v1/ask", json=ASK).status_code == 401
    assert client.post("/v1/ask", json=ASK, headers={"Authorization": f"Bearer {new_token()}"}).status_code == 401
    assert client.post("/v1/ask", json=ASK, headers={"Authorization": "Basic eDp5"}).status_code == 401
    assert client.post("/v1/ask", json=ASK, headers=headers["ann"]).status_code == 200
    foreign = client.post("/v1/ask", json=ASK, headers=headers["bo"])
    unknown = client.post("/v1/ask", json={**ASK, "database": "nobody"}, headers=headers["bo"])
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["detail"] == unknown.json()["detail"].replace("nobody", "people")
    assert client.get("/v1/databases", headers=headers["bo"]).json()["databases"][0]["name"] == "other"


def test_clients_see_their_own_history_only(serve: Serve) -> None:
    file, headers = token_file(ann="", bo="")
    client = serve(tokens=file)
    client.post("/v1/ask", json=ASK, headers=headers["ann"])
    assert len(client.get("/v1/history", headers=headers["ann"]).json()["entries"]) == 1
    assert client.get("/v1/history", headers=headers["bo"]).json()["entries"] == []


def test_rules_of_a_token_hide_columns_everywhere(serve: Serve) -> None:
    file, headers = token_file(ann='deny = ["person.salary"]', boss="")
    client = serve(lambda call: "SELECT salary FROM person", tokens=file)
    own, boss = headers["ann"], headers["boss"]
    assert client.post("/v1/ask", json=ASK, headers=boss).status_code == 200
    assert "salary" in client.get("/v1/schema", headers=boss).text
    assert "salary" not in client.get("/v1/schema", headers=own).text
    for sql in ("SELECT salary FROM person", "SELECT * FROM person", "SELECT sum(p.salary) FROM person p"):
        response = client.post("/v1/query", json={"sql": sql}, headers=own)
        if sql != "SELECT * FROM person":
            assert (response.status_code, response.json()["code"]) == (422, "query-refused"), sql
        assert '"30"' not in response.text
        assert "9007199254740993" not in response.text
    refused = client.post("/v1/ask", json=ASK, headers=own)
    assert refused.status_code == 422
    assert "9007199254740993" not in refused.text


def test_the_page_logs_in_with_a_token(serve: Serve) -> None:
    file, headers = token_file(ann="")
    token = headers["ann"]["Authorization"].removeprefix("Bearer ")
    client = serve(tokens=file)
    assert client.get("/", follow_redirects=False).headers["location"] == "/login"
    assert client.post("/login", data={"token": "wrong"}).status_code == 401
    assert client.post("/login", data={str(number): "1" for number in range(12)}).status_code == 401
    done = client.post("/login", data={"token": token}, follow_redirects=False)
    cookie = done.headers["set-cookie"]
    assert done.status_code == 303
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert token not in cookie
    assert client.get("/").status_code == 200
    assert client.post("/v1/ask", json=ASK).status_code == 200
    client.post("/logout")
    assert client.post("/v1/ask", json=ASK).status_code == 401


def test_a_login_across_sites_is_refused(serve: Serve) -> None:
    file, headers = token_file(ann="")
    token = headers["ann"]["Authorization"].removeprefix("Bearer ")
    done = serve(tokens=file).post("/login", data={"token": token}, headers={"Origin": "http://evil.example"})
    assert done.status_code == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.7", "db.example"])
def test_other_addresses_need_tokens(host: str) -> None:
    with pytest.raises(InputError, match="tokens"):
        Settings(host=host).check(tokens=False)


def test_every_address_needs_a_name() -> None:
    with pytest.raises(InputError, match="--allow-host"):
        Settings(host="0.0.0.0").check(tokens=True)
    Settings(host="0.0.0.0", hosts=("db.example",)).check(tokens=True)
    Settings(host="127.0.0.1").check(tokens=False)
    assert "db.example" in Settings(host="0.0.0.0", hosts=("DB.example",)).names
    assert "0.0.0.0" not in Settings(host="0.0.0.0").names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("token = 1", "list"),
        ("[[token]]\nname = 'a'", "sha256"),
        ("[[token]]\nname = 'a'\nsha256 = 'x'\ndatabases = ['people']", "sha256"),
        (f"[[token]]\nname = 'a'\nsha256 = '{'0' * 64}'\ndatabases = ['poeple']", "poeple"),
        (f"[[token]]\nname = 'a'\nsha256 = '{'0' * 64}'\ndatabases = ['people']\ndenny = []", "denny"),
        (f"[[token]]\nname = 'a'\nsha256 = '{'0' * 64}'\ndatabases = ['people']\n" * 2, "twice"),
        ("not toml", "TOML"),
    ],
)
def test_a_file_of_tokens_with_a_fault(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(words)):
        Tokens.load(str(file), ["people"])


def test_rules_that_fit_no_table_are_said_at_the_start(serve: Serve) -> None:
    file, _ = token_file(ann='deny = ["persons"]')
    with pytest.raises(InputError, match="ann on people"):
        serve(tokens=file)


def test_tokens_are_kept_as_digests() -> None:
    token = new_token()
    lines = entry("ann", token, ["people"])
    assert token not in lines
    assert digest(token) in lines
    with pytest.raises(InputError):
        entry('ann"\n', token, [])


@pytest.mark.parametrize(
    ("given", "name", "place"),
    [
        ("shop.db", "shop", "shop.db"),
        ("sales=/data/x.db", "sales", "/data/x.db"),
        ("postgresql://me@host/shop?sslmode=require", "shop", "postgresql://me@host/shop?sslmode=require"),
        ("/data/my files/", "my_files", "/data/my files/"),
        ("données.db", "donn_es", "données.db"),
    ],
)
def test_names_of_databases(given: str, name: str, place: str) -> None:
    assert named(given) == (name, place)
