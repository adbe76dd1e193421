"""The page of a server's card: what it says, and where its counts lead."""

import time

from tests.web.conftest import Site
from tests.web.planted import fetch
from tests.web.planted_card import card_job


def test_the_page_says_what_the_report_says_and_leads_to_the_samples(site: Site) -> None:
    job_id = card_job(site)
    facts = fetch(f"{site.url}/ui/jobs/{job_id}/card.json").json()
    while not facts["cards"]:  # a busy machine makes the report later
        time.sleep(0.2)
        facts = fetch(f"{site.url}/ui/jobs/{job_id}/card.json").json()
    [card] = facts["cards"]
    assert facts["answer"] == card["sentences"][0]
    distance, lookup = card["tools"]
    assert (distance["rescued"], distance["broken"]) == (10, 5)
    assert lookup["role"] == "never_called"
    trials = fetch(site.url + distance["broken_href"].replace("/trials?", "/trials.json?")).json()
    assert trials["total"] == 5
    page = fetch(f"{site.url}/ui/jobs/{job_id}/card").text
    assert card["sentences"][0] in page
    assert page.count('<table class="cards labelled">') == 2, "on a phone each number says what it counts"
    assert 'data-label="Seconds"' in page
    assert distance["fixed_href"].replace("&", "&amp;") in page
    assert f"/ui/jobs/{job_id}/card" in fetch(f"{site.url}/ui/jobs/{job_id}").text


def test_a_job_of_another_preset_has_no_card(site: Site) -> None:
    answer = fetch(f"{site.url}/ui/jobs/{site.job_id}/card.json")
    assert answer.status_code == 404
    assert "no card" in answer.json()["detail"]
