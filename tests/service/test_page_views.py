"""How a page's template reads its view, and what templates keep to."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gnomon_service.web.pages import environment
from gnomon_workers.store.store import Store
from tests.service.play import finish_all, post

ROOT = Path(__file__).parents[2]
TEMPLATES = [path for name in ("service", "packages") for path in (ROOT / name).rglob("templates/*.html.j2")]
MOST_COLUMNS = 5  # that fit a phone


def test_a_view_is_looked_into_before_it_is_asked_for_an_attribute() -> None:
    text = "{{ view.name }} {{ view.items()|length }} {{ view['items'] }} {{ view.absent is defined }}"
    view = {"name": "a", "items": "b", "values": "c"}
    assert environment().from_string(text).render(view=view) == "a 3 b False"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_table_that_does_not_scroll_fits_a_phone_or_becomes_cards(path: Path) -> None:
    plain = re.findall(r'<div class="box"><table>.*?</thead>', path.read_text(), re.DOTALL)
    assert [head for head in plain if head.count("<th ") > MOST_COLUMNS] == []


def test_only_rows_that_can_be_ticked_offer_to_compare_them(api: TestClient, store: Store) -> None:
    job_id = post(api)
    finish_all(store, job_id)
    offers = {
        view: "Compare ticked" in api.get(f"/ui/jobs/{job_id}/trials{view}").text
        for view in ("", "?view=trials", "?view=grid")
    }
    assert offers == {"": True, "?view=trials": True, "?view=grid": False}


def test_the_page_of_a_refusal_names_every_field(api: TestClient) -> None:
    as_page = {"Accept": "text/html", "Origin": "http://127.0.0.1:8000"}
    paged = api.get("/ui/trips?cursor=zz", headers=as_page).text
    assert "<code>cursor</code>: &#39;zz&#39; is no cursor" in paged
    queue = api.post("/ui/review", headers=as_page).text
    assert "<code>job</code>: Field required.</p>" in queue
    picture = api.get("/ui/media/abc?w=wide", headers=as_page).text
    assert "<code>sha256</code>: " in picture
    assert "<code>w</code>: " in picture
    assert "Not Found: GET /ui/nowhere." in api.get("/ui/nowhere", headers=as_page).text
