"""Each sentence of a guide is held against the facts, in English and Japanese."""

import pytest

from gnomon_trips.itinerary.draft import DraftGuide, DraftPlan, DraftStopText, plan_of
from gnomon_trips.itinerary.facts import facts_of
from gnomon_trips.itinerary.guide_claims import sentences
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import provider_for
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import open_trip
from gnomon_trips.itinerary.verify.guide import Sentence, cut_false, guide_sentences
from gnomon_trips.itinerary.verify.verify import verify

REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-10",  # a Wednesday
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Ateneum"],
    "rules": {"price": {"museum": 15}},
}
TOKYO = {
    "area": "japan",
    "start_date": "2026-06-10",
    "mode": "rail",
    "places": ["Tokyo Tower", "Senso-ji Temple"],
}
VISITS = [("Kiasma", "10:10", "11:40"), ("Ateneum", "11:50", "13:20")]
IN_TOKYO = [("Tokyo Tower", "09:00", "09:45"), ("Senso-ji Temple", "11:00", "11:40")]


def judged(
    request: dict[str, object],
    visits: list[tuple[str, str, str]],
    *,
    intro: str = "",
    stop: int = 0,
    text: str = "",
) -> tuple[Sentence, ...]:
    trip = answered(open_trip(read_request(request), provider_for(str(request["area"]))), is_local=True)
    days = [{"visits": [dict(zip(("place", "arrive", "leave"), visit, strict=True)) for visit in visits]}]
    plain = answered(plan_of(DraftPlan.model_validate({"days": days}), trip), is_local=True)
    stops = [DraftStopText(place=plain.days[0].visits[stop].place.id, text=text)] if text else []
    guide = [DraftGuide(day=1, intro=intro, stops=stops)]
    plan = answered(plan_of(DraftPlan.model_validate({"days": days, "guide": guide}), trip), is_local=True)
    return guide_sentences(plan, trip, answered(facts_of(trip, plan), is_local=True))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("It is open 10:00-20:30.", "true"),
        ("It opens at 10:00 and closes at 20:30.", "true"),
        ("It opens at 09:00.", "false"),
        ("Open until 22:00.", "false"),
        ("Open around the clock.", "false"),
        ("You arrive at 10:10 and leave at 11:40.", "true"),
        ("You arrive at 10:30.", "false"),
        ("Leave at 12:00.", "false"),
        ("Next is Ateneum.", "true"),
        ("Then comes Kiasma.", "false"),
        ("You come here after Ateneum.", "false"),
        ("Ateneum is 450 m from here.", "true"),
        ("Ateneum is 4.5 km from here.", "false"),
        ("A walk of 40 km from Ateneum.", "false"),
        ("It is near Ateneum.", "true"),
        ("Entry is 15 EUR.", "true"),
        ("Entry is 25 EUR.", "false"),
        ("Admission is free.", "false"),
        ("A museum of contemporary art.", "true"),
        ("A church from the sixties.", "false"),
        ("Stop here for lunch.", "false"),
        ("You asked for it.", "true"),
        ("It was built in 1998.", "unknown"),
        ("The light in its halls is worth the way.", "no claim"),
        ("Ateneum is open 10:00-20:00.", "true"),
        ("Ateneum opens at 08:00.", "false"),
    ],
)
def test_a_sentence_about_a_stop_is_true_false_or_not_known(text: str, verdict: str) -> None:
    assert [sentence.verdict for sentence in judged(REQUEST, VISITS, text=text)] == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Wednesday has 2 stops.", "true"),
        ("The day has 5 stops.", "unknown"),
        ("It begins at 10:10.", "true"),
        ("It begins at 07:00.", "false"),
        ("You walk 45 km in all.", "false"),
        ("Kiasma opens at 10:00.", "true"),
        ("Kiasma opens at 06:00.", "false"),
        ("A day of art.", "no claim"),
    ],
)
def test_a_sentence_about_a_day_is_held_against_the_day_or_the_stop_it_names(text: str, verdict: str) -> None:
    assert [sentence.verdict for sentence in judged(REQUEST, VISITS, intro=text)] == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("11:00に到着し、11:40に出発します。", "true"),
        ("10:00に到着します。", "false"),
        ("東京タワーから電車で40分です。", "true"),
        ("東京タワーから電車で3分です。", "false"),
        ("東京タワーから90kmです。", "false"),
        ("東京タワーの隣です。", "false"),
        ("浅草寺は美術館です。", "false"),
        ("次は東京タワーです。", "false"),
        ("東京タワーの後に訪れます。", "true"),
        ("営業時間は6:00から17:00までです。", "unknown"),
        ("拝観は無料です。", "unknown"),
        ("ここで昼食をとります。", "false"),
        ("雷門が迎えてくれます。", "no claim"),
    ],
)
def test_japanese_sentences_are_judged_alike(text: str, verdict: str) -> None:
    assert [sentence.verdict for sentence in judged(TOKYO, IN_TOKYO, stop=1, text=text)] == [verdict]


def test_false_sentences_fail_the_plan_until_they_are_cut() -> None:
    trip = answered(open_trip(read_request(REQUEST), provider_for("helsinki")), is_local=True)
    days = [{"visits": [dict(zip(("place", "arrive", "leave"), visit, strict=True)) for visit in VISITS]}]
    guide = [{"day": 1, "intro": "A day of art. Kiasma opens at 06:00. Take your time."}]
    plan = answered(plan_of(DraftPlan.model_validate({"days": days, "guide": guide}), trip), is_local=True)
    facts = answered(facts_of(trip, plan), is_local=True)
    assert [fault.path for fault in verify(plan, trip, facts).violations if fault.code == "WHY"] == [
        "guide.0.intro"
    ]
    cut = cut_false(plan.guide, {"guide.0.intro": ["Kiasma opens at 06:00."]})
    assert (cut[0].intro, cut[0].cut) == ("A day of art. Take your time.", 1)
    mended = plan.model_copy(update={"guide": cut})
    assert not any(fault.code == "WHY" for fault in verify(mended, trip, facts).violations)


def test_a_text_about_what_is_not_visited_is_a_fault() -> None:
    trip = answered(open_trip(read_request(REQUEST), provider_for("helsinki")), is_local=True)
    days = [{"visits": [{"place": "Kiasma", "arrive": "10:10", "leave": "11:40"}]}]
    guide = [{"day": 1, "stops": [{"place": "Ateneum", "text": "Go in."}]}, {"day": 3, "intro": "Rest."}]
    plan = answered(plan_of(DraftPlan.model_validate({"days": days, "guide": guide}), trip), is_local=True)
    facts = answered(facts_of(trip, plan), is_local=True)
    paths = {fault.path for fault in verify(plan, trip, facts).violations if fault.code == "WHY"}
    assert paths == {"guide.0.stops.0", "guide.1.day"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("St. Mary's is near. It opens at 10. Go!", 3),
        ("It is 2.5 km long, i.e. An easy walk.", 1),
        ("静かです。次は浅草寺です！", 2),
        ("", 0),
    ],
)
def test_a_text_is_cut_into_its_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count
