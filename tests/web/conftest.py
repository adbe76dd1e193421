"""A finished job, the pages over it on a real server, and a real Chromium."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright
from redis import Redis

from gnomon_service.api.app import create_app
from gnomon_service.reports import write_folder
from gnomon_service.run_job import end_job
from gnomon_service.serving import listen, server_of, url_of
from gnomon_service.settings import read_settings
from gnomon_workers.store.store import Store
from tests.workers import desk
from tests.workers.conftest import redis, redis_url, wait_until

__all__ = ["redis", "redis_url"]
# The first is the same engine without windows: it costs half as much.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
# Pages live for seconds: to optimise their scripts costs more than it saves.
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    "--js-flags=--no-opt",
]
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
def finished_folder(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Path:
    """A data folder with one finished job of 28 samples, and beside it the files of its report; no test
    writes to it.

    Its store keeps report, verdict and index of trials: else the server of each test would make them.
    """
    folder = tmp_path_factory.mktemp("finished")
    with ThreadPoolExecutor(1) as thread:  # where no browser's event loop is open
        thread.submit(_run_job, folder / "data", folder / "out").result()
    settings = read_settings({}, data_dir=folder / "data")
    store = Store(settings.database_url)
    app = create_app(settings, store=store, redis=Redis.from_url(redis_url))
    with TestClient(app, base_url="http://localhost") as client:
        job = store.jobs().items[0].id
        for path in (f"/v1/jobs/{job}/report", f"/ui/jobs/{job}/trials.json"):
            assert client.get(path).is_success
        wait_until(lambda: client.get("/index.json").json()["jobs"][0]["badge"] != "due")
    store.close()
    return folder / "data"


def _run_job(folder: Path, out: Path) -> None:
    """Run the job in this process, and write its report as the command line does."""
    folder.mkdir()
    with Store(read_settings({}, data_dir=folder).database_url) as store:
        job = desk.post(store, folder, SPEC)
        report = desk.run(store, folder, job)
        end_job(store, job.id, folder)
        write_folder(store, job.id, report, out, data_dir=folder)


# Of what a page repeats, a few are looked through for accessibility: all are made alike.
LISTS = ("tbody > *", "ul > *", "article", "details.sample", "details.pair")
REPEATED = ", ".join(f"{each}:nth-of-type(n + 5)" for each in LISTS)


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe finds wrong with a page: each rule with the first element that breaks it.

    Elements that keep a rule are not told: they are most of the work. The page loses what it repeats.
    """
    page.locator(REPEATED).evaluate_all("parts => parts.forEach(part => part.remove())")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(item["id"], item["nodes"][0]["html"][:200]) for item in found]


@dataclass(frozen=True, slots=True)
class Site:
    """A server over a copy of the finished job's data folder."""

    url: str
    store: Store
    folder: Path

    @property
    def job_id(self) -> str:
        """The finished job's."""
        return self.store.jobs().items[-1].id

    def trial_id(self, sample_id: str, arm: str) -> str:
        """The trial of a sample under an arm."""
        rows = self.store.iter_rows(self.job_id)
        return next(row.trial_id for row in rows if (row.sample_id, row.arm) == (sample_id, arm))


@contextmanager
def serving(folder: Path, redis: Redis, *, like: Path | None = None, **environ: str) -> Iterator[Site]:
    """A server over the data in `folder`, which begins as a copy of `like`."""
    if like is not None:
        shutil.copytree(like, folder, dirs_exist_ok=True)
    settings = read_settings(environ, data_dir=folder)
    store = Store(settings.database_url)
    listener = listen("127.0.0.1", 0, has_keys=True)
    server = server_of(create_app(settings, store=store, redis=redis))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Site(url=url_of(listener), store=store, folder=folder)
    server.should_exit = True
    thread.join(timeout=10)
    listener.close()
    store.close()


@pytest.fixture
def open_site(finished_folder: Path, redis: Redis, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Serve the pages; the test may choose the environment."""
    with ExitStack() as stack:

        def open_one(*, is_empty: bool = False, **environ: str) -> Site:
            like = None if is_empty else finished_folder
            return stack.enter_context(serving(tmp_path / "data", redis, like=like, **environ))

        yield open_one


@pytest.fixture
def site(open_site: Callable[..., Site]) -> Site:
    return open_site()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without one these tests are skipped, but not in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium here; apt-get install chromium-headless-shell")
        pytest.skip("there is no Chromium here")
    expect.set_options(timeout=120_000)  # a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


class Visit:
    """A page in the browser that keeps what went wrong: console errors, requests to other hosts."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site
        self.errors: list[str] = []
        self._watching: dict[str, Callable[[Any], object]] = {
            "console": lambda message: message.type == "error" and self.errors.append(message.text),
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": self._watch,
        }
        for event, watch in self._watching.items():
            page.on(event, watch)  # type: ignore[call-overload]

    def _watch(self, request: object) -> None:
        url = request.url  # type: ignore[attr-defined]
        if not url.startswith((self.site.url, "data:")):
            self.errors.append(f"asked {url}")

    def open(self, path: str) -> Page:
        self.page.goto(self.site.url + path)
        return self.page

    def end(self) -> None:
        """Keep no more of what goes wrong in the page."""
        for event, watch in self._watching.items():
            self.page.remove_listener(event, watch)


def new_page(
    browser: Browser, *, size: dict[str, int] = WIDE, dark: bool = False, script: bool = True
) -> Page:
    """A page in a fresh context of the browser; the caller closes the context."""
    context = browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme="dark" if dark else "light",
        java_script_enabled=script,
    )
    return context.new_page()


class Tabs:
    """Tabs of the browser that are used again, because a new one costs more than the page in it.

    Who takes one finds an empty page, no cookie, and nothing stored by the last site.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[tuple[bool, bool], list[Page]] = {}
        self._taken: list[tuple[tuple[bool, bool], Page]] = []

    def take(self, *, size: dict[str, int] = WIDE, dark: bool = False, script: bool = True) -> Page:
        """An empty page of that size, until `leave_all`."""
        idle = self._idle.setdefault((dark, script), [])
        page = idle.pop() if idle else new_page(self._browser, dark=dark, script=script)
        page.set_viewport_size(size)  # type: ignore[arg-type]
        self._taken.append(((dark, script), page))
        return page

    def leave_all(self) -> None:
        """Empty all that were taken; one that does not let itself be emptied is closed."""
        while self._taken:
            kind, page = self._taken.pop()
            try:
                self._empty(page, dark=kind[0], script=kind[1])
                self._idle[kind].append(page)
            except Error:
                page.context.close()

    def _empty(self, page: Page, *, dark: bool, script: bool) -> None:
        if script and page.url.startswith("http"):
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.context.clear_cookies()
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.emulate_media(media="null", color_scheme="dark" if dark else "light")


@pytest.fixture(scope="session")
def all_tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def tabs(all_tabs: Tabs) -> Iterator[Tabs]:
    """Tabs, which are left at the test's end."""
    yield all_tabs
    all_tabs.leave_all()


@pytest.fixture
def visit(tabs: Tabs) -> Iterator[Callable[..., Visit]]:
    """Open pages of a site in a tab of its own."""
    visits: list[Visit] = []

    def open_one(site: Site, **options: Any) -> Visit:
        visits.append(Visit(tabs.take(**options), site))
        return visits[-1]

    yield open_one
    for visit in visits:
        visit.end()
