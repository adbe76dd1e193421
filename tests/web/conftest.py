"""A finished job, the pages over it on a real server, and a real Chromium."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from redis import Redis

from service.api.app import create_app
from service.serving import listen, server_of, url_of
from service.settings import read_settings
from tests.workers.conftest import redis, redis_url
from workers.store.store import Store

__all__ = ["redis", "redis_url"]
CHROMIUM = next(
    filter(None, (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))), None
)
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
SPEC = {
    "name": "tools on small worlds",
    "benchmark": "worlds",
    "select": {"limit": 28},
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": "all", "max_tool_calls": 12},
    ],
}


@pytest.fixture(scope="session")
def finished_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one finished job of 28 samples, run by the command line."""
    folder = tmp_path_factory.mktemp("finished")
    spec = folder / "job.yaml"
    spec.write_text(yaml.safe_dump(SPEC))
    command = [sys.executable, "-m", "service.cli", "run", str(spec), "--data-dir", str(folder / "data")]
    subprocess.run([*command, "--out", str(folder / "out")], check=True, capture_output=True, timeout=110)
    return folder / "data"


@dataclass(frozen=True, slots=True)
class Site:
    """A server over a copy of the finished job's data folder."""

    url: str
    store: Store
    folder: Path

    @property
    def job_id(self) -> str:
        """The finished job's."""
        return self.store.jobs(limit=1).items[0].id

    def trial_id(self, sample_id: str, arm: str) -> str:
        """The trial of a sample under an arm."""
        rows = self.store.iter_rows(self.job_id)
        return next(row.trial_id for row in rows if (row.sample_id, row.arm) == (sample_id, arm))


@pytest.fixture
def open_site(finished_folder: Path, redis: Redis, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Serve the pages; the test may choose the environment."""
    closing: list[Callable[[], None]] = []

    def open_one(*, is_empty: bool = False, **environ: str) -> Site:
        folder = tmp_path / "data"
        if not is_empty:
            shutil.copytree(finished_folder, folder, dirs_exist_ok=True)
        settings = read_settings(environ, data_dir=folder)
        store = Store(settings.database_url)
        listener = listen("127.0.0.1", 0, has_keys=True)
        server = server_of(create_app(settings, store=store, redis=redis))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()

        def close() -> None:
            server.should_exit = True
            thread.join(timeout=10)
            listener.close()
            store.close()

        closing.append(close)
        return Site(url=url_of(listener), store=store, folder=folder)

    yield open_one
    for close in closing:
        close()


@pytest.fixture
def site(open_site: Callable[..., Site]) -> Site:
    return open_site()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without one these tests are skipped, but not in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium here; apt-get install chromium")
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


class Visit:
    """A page in the browser that keeps what went wrong: console errors, requests to other hosts."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site
        self.errors: list[str] = []
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._watch)

    def _watch(self, request: object) -> None:
        url = request.url  # type: ignore[attr-defined]
        if not url.startswith((self.site.url, "data:")):
            self.errors.append(f"asked {url}")

    def open(self, path: str) -> Page:
        self.page.goto(self.site.url + path)
        return self.page


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Open pages of a site in a fresh context."""
    contexts: list[BrowserContext] = []

    def open_one(
        site: Site, *, size: dict[str, int] = WIDE, dark: bool = False, script: bool = True
    ) -> Visit:
        context = browser.new_context(
            viewport=size,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        return Visit(context.new_page(), site)

    yield open_one
    for context in contexts:
        context.close()
