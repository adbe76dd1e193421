"""What holds for every page: accessible, private, whole on a phone, and the same without script."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.conftest import PHONE, WIDE, Site, Visit
from tests.web.every_page import PAGES

EXPECTED = {"error": ["Failed to load resource: the server responded with a status of 404 (Not Found)"]}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_private_and_whole(name: str, site: Site, visit: Callable[..., Visit]) -> None:
    path = PAGES[name](site)
    for size in (WIDE, PHONE):
        for dark in (False, True):
            shown = visit(site, size=size, dark=dark)
            page = shown.open(path)
            violations = Axe().run(page).response["violations"]
            where = f"{name} at {size['width']}, {'dark' if dark else 'light'}"
            assert [(item["id"], item["nodes"][0]["html"]) for item in violations] == [], where
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{where}: scrolls sideways"
            assert page.locator("h1").count() == 1, where
            assert shown.errors == EXPECTED.get(name, []), where


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_the_same_without_script(name: str, site: Site, visit: Callable[..., Visit]) -> None:
    texts = []
    for script in (True, False):
        page = visit(site, script=script).open(PAGES[name](site))
        texts.append(page.locator("h1").inner_text())
        assert page.locator("main").inner_text().strip()
    assert texts[0] == texts[1]
