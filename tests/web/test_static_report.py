"""The report as one file in a browser: whole on every width and on paper, private, and accessible."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.conftest import PHONE, WIDE, Tabs, violations

PAPER = {"width": 703, "height": 1016}  # A4 without its margins, in pixels
OPEN_ALL = "document.querySelectorAll('details').forEach(fold => fold.open = true)"
# What reaches beyond the page or its box, and is not in a box that scrolls and takes the focus.
CUT = """() => {
  const page = document.documentElement.clientWidth, cut = [];
  for (const element of document.querySelectorAll('main *')) {
    if (element.closest('.unseen') || (element.tagName !== 'svg' && element.closest('svg'))) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const scrolls = element.closest('[tabindex="0"]');
    if (scrolls && scrolls !== element && scrolls.getBoundingClientRect().right <= page + 1) continue;
    if (box.right > page + 1 || box.left < -1) cut.push(`${element.tagName}.${element.className}`);
    const frame = element.parentElement.closest('.cards, .stage');
    if (frame && box.right > frame.getBoundingClientRect().right + 1) cut.push(`in ${frame.className}`);
  }
  for (const text of document.querySelectorAll('.plot text, .drawing text')) {
    const box = text.getBoundingClientRect(), frame = text.closest('svg').getBoundingClientRect();
    if (box.width && text.closest('.plot') && (box.right > frame.right + 2 || box.left < frame.left - 2))
      cut.push(`text ${text.textContent}`);
  }
  return cut.slice(0, 5);
}"""


@pytest.fixture
def file(finished_folder: Path) -> Path:
    """The report, as the command line writes it."""
    return finished_folder.parent / "out" / "report.html"


@pytest.fixture
def show(tabs: Tabs, file: Path) -> Callable[..., Page]:
    """Open the file without script; it must ask no server."""

    def show_one(*, script: bool = False, **options: Any) -> Page:
        page = tabs.take(script=script, **options)
        asked: list[str] = []
        watching = {
            "request": lambda request: asked.append(request.url),
            "console": lambda message: asked.append(message.text),
        }
        for event, watch in watching.items():
            page.on(event, watch)
        page.goto(file.as_uri())
        for event, watch in watching.items():
            page.remove_listener(event, watch)
        assert [url for url in asked if not url.startswith(("data:", file.as_uri()))] == []
        return page

    return show_one


def test_the_file_is_small_and_has_no_script(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < 10_000_000
    assert "<script" not in text
    assert " style=" not in text
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text


@pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (PHONE, True)], ids=["wide", "phone"])
def test_nothing_is_cut_and_all_is_accessible(
    show: Callable[..., Page], size: dict[str, int], dark: bool
) -> None:
    page = show(size=size, dark=dark, script=True)
    assert page.evaluate(CUT) == []
    page.evaluate(OPEN_ALL)
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert violations(page) == []


def test_on_paper_folds_are_open_and_nothing_is_cut(show: Callable[..., Page]) -> None:
    page = show(size=PAPER, script=True)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(CUT) == []
    folded = "details:not(.sides, .pair) > :not(summary, .sides)"  # traces side by side are not printed
    heights = "query => [...document.querySelectorAll(query)].map(box => box.offsetHeight)"
    assert min(page.evaluate(heights, folded)) > 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_chosen_step_is_drawn_without_script(show: Callable[..., Page]) -> None:
    page = show()
    card = page.locator("details.sample[open]")
    steps = card.locator("input[type=radio]")
    assert steps.count() > 1
    for number in range(steps.count()):
        steps.nth(number).check()
        layer = f"g.look-step[data-layer='step-{steps.nth(number).input_value()}']"
        assert card.locator(layer).first.is_visible()
        shown = [group for group in card.locator("g.look-step:not(.labels)").all() if group.is_visible()]
        names = {group.get_attribute("data-layer") for group in shown}
        assert names == {f"step-{steps.nth(number).input_value()}"}


def test_every_opened_sample_has_its_question_its_truth_and_all_arms(show: Callable[..., Page]) -> None:
    page = show()
    cards = page.locator("details.sample")
    assert 10 < cards.count() <= 20
    kinds = {text.split()[1] for text in cards.locator(".kind-sign").all_inner_texts()}
    assert {"fixed", "both"} <= kinds
    for card in cards.all():
        assert (card.locator(".question .asked").text_content() or "").strip()
        assert (card.locator(".question .gold").text_content() or "") == "True:"
        assert card.locator(".answers-list li").count() == 2
        assert card.locator("svg.scene").count() == 1


def test_a_flipped_sample_links_to_its_question(show: Callable[..., Page]) -> None:
    page = show(script=True)
    page.evaluate(OPEN_ALL)
    links = page.locator("a[href^='#sample-']")
    assert links.count() > 0
    for link in links.all():
        assert page.locator(str(link.get_attribute("href"))).count() == 1


def test_the_page_says_what_the_reference_model_is(show: Callable[..., Page]) -> None:
    assert "reference is a built-in policy, not a language model" in show().inner_text("main")


def test_the_file_has_the_colours_of_the_live_pages() -> None:
    root = Path(__file__).parents[2]
    live, kept = (
        (root / path).read_text()
        for path in ("service/gnomon_service/web/static/window.css", "gnomon/report/page.css")
    )

    def colours(css: str) -> list[dict[str, str]]:
        blocks = re.findall(r":root[^{]*\{\s*color-scheme[^}]*\}|:root[^{]*\{[^}]*--ink[^}]*\}", css)
        return [dict(re.findall(r"(--[\w-]+): ([^;]+);", block)) for block in blocks]

    for own, page in zip(colours(kept)[:2], colours(live)[:2], strict=True):
        assert own.items() <= page.items()
        assert len(own) > 15
