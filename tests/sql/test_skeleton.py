from __future__ import annotations

import pytest

from sqljury.sql import skeleton


@pytest.mark.parametrize(
    ("sql", "form"),
    [
        ("SELECT name FROM ship WHERE tons > 90", "select _ from _ where _ > _"),
        ("SELECT a, b, c FROM t ORDER BY d ASC LIMIT 3;", "select _ from _ order by _ limit _"),
        ("SELECT COUNT(*) FROM [my table] -- all\n", "select count ( * ) from _"),
        ("SELECT T1.x FROM a AS T1 INNER JOIN b T2 ON T1.i = T2.i AND T1.j = T2.j", "select _ from _ join _"),
        ("select strftime('%Y', `d`) /* the year */ from t", "select strftime ( _ ) from _"),
        ("SELECT x FROM t WHERE y <> 'it''s -- no comment'", "select _ from _ where _ != _"),
        ("", ""),
    ],
)
def test_forms(sql: str, form: str) -> None:
    assert skeleton.read(sql).form == form


def test_the_same_form_however_it_is_written() -> None:
    one = skeleton.read('SELECT "Name" FROM Ships AS s INNER JOIN Ports p ON s.port=p.id WHERE p.city="Kiel"')
    other = skeleton.read("select ports.city\nfrom ports join ships on ships.port = ports.id where ships.name = 'Ida'")
    assert one.form == other.form


def test_names_and_values() -> None:
    reading = skeleton.read("SELECT T1.name FROM crew AS T1 WHERE rank = 'cook' AND \"home town\" = 7")
    assert reading.values == ("cook", "home town")
    assert {"name", "crew", "rank", "home town"} <= set(reading.names)


def test_likeness() -> None:
    one, other = (skeleton.features(form) for form in ("select _ from _", "select _ from _ where _ = _"))
    assert skeleton.likeness(one, one) == 1
    assert 0 < skeleton.likeness(one, other) < 0.7
    assert skeleton.likeness(frozenset(), one) == 0


@pytest.mark.parametrize("text", ["'", '"', "/* never closed", "[[[[", "\x00\ud800", "((((" * 500, "no SQL at all"])
def test_any_text_is_read(text: str) -> None:
    skeleton.features(skeleton.read(text).form)
    skeleton.bare(text)


def test_bare() -> None:
    assert skeleton.bare("SELECT 1 -- one\nFROM t; ") == "SELECT 1  \nFROM t"
    assert skeleton.bare("SELECT '--' ; ;") == "SELECT '--'"
