"""What holds for every page: accessible, private, whole on a phone, and the same without script."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from redis import Redis

from tests.web.conftest import PHONE, WIDE, Site, Visit, new_page, serving, violations
from tests.web.every_page import PAGES
from tests.web.planted import fetch

EXPECTED = {"error": ["Failed to load resource: the server responded with a status of 404 (Not Found)"]}
# What is read where no script runs.
PARSED = """html => {
    const page = new DOMParser().parseFromString(html, 'text/html');
    return ['h1', 'main'].map(name => page.querySelector(name).textContent);
}"""
# Each width and each theme once: colours do not depend on the width, nor widths on the theme.
TABS = {"wide and light": (WIDE, False), "dark on a phone": (PHONE, True)}


@pytest.fixture(scope="module")
def site(finished_folder: Path, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site for all pages; what a page needs is added to it."""
    with (
        Redis.from_url(redis_url) as redis,
        serving(tmp_path_factory.mktemp("site"), redis, like=finished_folder) as site,
    ):
        yield site


@pytest.fixture(scope="module")
def all_kinds(browser: Browser, site: Site) -> Iterator[Mapping[str, Visit]]:
    """One tab each for all pages, because a new one costs more than the page in it."""
    visits = {
        name: Visit(new_page(browser, size=size, dark=dark), site) for name, (size, dark) in TABS.items()
    }
    yield visits
    for visit in visits.values():
        visit.page.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_private_whole_and_the_same_without_script(
    name: str, site: Site, all_kinds: Mapping[str, Visit]
) -> None:
    path = PAGES[name](site)
    served = fetch(site.url + path, headers={"Accept": "text/html"}).text
    for where, tab in all_kinds.items():
        tab.errors.clear()
        page = tab.open(path)
        widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], f"{where}: scrolls sideways"
        assert page.locator("h1").count() == 1, where
        assert page.locator("main").inner_text().strip()
        heading, main = page.evaluate(PARSED, served)
        assert main.strip()
        assert " ".join(heading.split()) == " ".join((page.locator("h1").text_content() or "").split())
        assert tab.errors == EXPECTED.get(name, []), where
        assert violations(page) == [], where
