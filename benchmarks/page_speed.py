"""Times and bytes of the page of ``sqljury serve``, in Debian's Chromium on loopback, with an empty cache each time.

    python benchmarks/page_speed.py [--loads 20]

Prints the first contentful paint of the page without a result, the bytes that came over the network until the schema is
there, and the bytes that the first chart adds. The model is scripted; the machine's load stands beside the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import sqlite3
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from playwright import sync_api as sync

from sqljury import FakeModel, Session, connect
from sqljury.web.app import create
from sqljury.web.databases import Databases, Served
from sqljury.web.running import WebServer

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def serve(file: Path, listening: socket.socket) -> WebServer:
    """A server on a small database, in a thread."""
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, height INTEGER);"
            "INSERT INTO person VALUES (1, 'Ann', 185), (2, 'Bo', 170), (3, 'Cy', 190);"
        )
    database = connect(str(file))
    session = Session(database, recipe="fast", model=FakeModel("SELECT name, height FROM person"), cache=False)
    server = WebServer(create(Databases(session, {"people": Served(database)})))
    threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server


def visit(browser: sync.Browser, address: str, chart: bool) -> tuple[float, int, int]:
    """First contentful paint in milliseconds, bytes of the page, and those that a chart adds."""
    context = browser.new_context()  # an empty cache
    page = context.new_page()
    got: list[float] = []
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    client.on("Network.loadingFinished", lambda event: got.append(event["encodedDataLength"]))
    page.goto(address)
    page.locator(".tree details").first.wait_for()
    paint: Any = page.wait_for_function(PAINT).json_value()
    first = sum(got)
    if chart:
        page.fill("#question", "How tall is everybody?")
        page.press("#question", "Enter")
        page.get_by_role("button", name="Chart").click()
        page.locator(".chart svg").wait_for()
    context.close()
    return float(paint), int(first), int(sum(got) - first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=20)
    loads = parser.parse_args().loads
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listening:
        server = serve(Path(folder) / "people.db", listening)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with sync.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            visit(browser, address, False)  # the browser itself is read from disk
            visits = [visit(browser, address, False) for _ in range(loads)]
            chart = visit(browser, address, True)[2]
            browser.close()
        server.should_exit = True
    paints = sorted(paint for paint, _, _ in visits)
    print(f"first contentful paint of {loads} loads: median {statistics.median(paints):.0f} ms, ", end="")
    print(f"best {paints[0]:.0f}, worst {paints[-1]:.0f}; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"transferred: page {max(size for _, size, _ in visits):,} bytes; question and first chart {chart:,} bytes")


if __name__ == "__main__":
    main()
