"""Films and graphs as requests: whole or as frames, merged with a list, judged by what they show."""

from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.sample import ImageRef, Sample, SampleRef, VideoRef
from gnomon.media import MediaStore
from gnomon_trips.benchmarks.itinerary.brief import Brief, brief_of, request_task
from gnomon_trips.benchmarks.itinerary.film import MOST_BYTES, film_parts, names_shown, plain_graph
from gnomon_trips.benchmarks.itinerary.scoring import score
from tests.numbered import write_clip
from tests.published_graphs import KANSAI

BASE = {"area": "japan", "start_date": "2026-06-10", "mode": "rail"}


def sample(parts: tuple) -> Sample:  # type: ignore[type-arg]
    ref = SampleRef(sample_id="s", task="t", cell="t", cluster="s")
    return Sample(ref=ref, parts=parts, target={})


def test_a_film_is_shown_whole_or_as_frames_never_both(tmp_path: Path) -> None:
    film = write_clip(tmp_path / "walk.mp4", 40)
    media = MediaStore(tmp_path / "media")
    shown = sample(film_parts(film, media))
    for videos, kinds in ((True, {"video": 1, "image": 0}), (False, {"video": 0, "image": 24})):
        blocks = shown.messages(videos=videos)[0]["content"]
        assert isinstance(blocks, list)
        assert {kind: sum(block["type"] == kind for block in blocks) for kind in kinds} == kinds
    (video,) = [part.content for part in shown.parts if isinstance(part.content, VideoRef)]
    assert media.read(video.sha256) == film.read_bytes()
    assert (video.media_type, video.seconds) == ("video/mp4", pytest.approx(4.0))


@pytest.mark.parametrize("name", ["walk.gif", "large.mp4"])
def test_what_no_provider_takes_is_shown_as_frames(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = write_clip(tmp_path / "walk.mp4", 40).rename(tmp_path / name)
    if name == "large.mp4":
        monkeypatch.setattr("gnomon_trips.benchmarks.itinerary.film.MOST_BYTES", film.stat().st_size - 1)
    contents = [part.content for part in film_parts(film, MediaStore(tmp_path / "media"))]
    assert not any(isinstance(content, VideoRef) for content in contents)
    assert sum(isinstance(content, ImageRef) for content in contents) == 24
    assert MOST_BYTES * 4 / 3 <= 20_000_000


def test_places_asked_for_and_seen_are_merged_and_keep_their_origin() -> None:
    video = [
        {"name": "浅草寺", "from_s": 41, "to_s": 50},
        {"name": "Tokyo Skytree", "from_s": 10, "to_s": 20},
        {"name": "Senso-ji Temple", "from_s": 70, "to_s": 80},
    ]
    trip = request_task({**BASE, "places": ["Tokyo Tower", "Senso-ji Temple"], "video": video}).trip
    assert trip.request.places == ["Tokyo Tower", "Senso-ji Temple", "Tokyo Skytree"]
    assert trip.request.order == [("Tokyo Skytree", "Senso-ji Temple")]
    words = {
        name: [origin.words for origin in trip.origins[trip.named[name].id]] for name in trip.request.places
    }
    assert words == {
        "Tokyo Tower": ["asked for"],
        "Senso-ji Temple": ["asked for", "seen at 0:41", "seen at 1:10"],
        "Tokyo Skytree": ["seen at 0:10"],
    }


def test_a_graph_and_a_video_work_together_and_the_graphs_order_holds() -> None:
    nodes = [
        {"id": "t", "name": "Tokyo", "kind": "city"},
        {"id": "a", "name": "Tokyo Tower", "parent": "t", "from_s": 5, "to_s": 9},
        {"id": "b", "name": "Senso-ji Temple", "parent": "t"},
    ]
    video = [{"name": "Senso-ji Temple", "from_s": 1}, {"name": "Tokyo Tower", "from_s": 5}]
    request = {**BASE, "graph": {"nodes": nodes, "transitions": [["a", "b"]]}, "video": video}
    trip = request_task(request).trip
    assert trip.request.order == [("Tokyo Tower", "Senso-ji Temple")]
    assert any("the other way round" in told for told in trip.assumed.values())


def test_vir_benchs_own_graph_is_a_request() -> None:
    graph = plain_graph(KANSAI)
    places = [node["name"] for node in graph["nodes"] if node["kind"] == "poi"]
    assert "A diner" not in str(places)
    assert {"Namba Station", "Todai-ji"} <= set(places)
    trip = request_task({**BASE, "graph": KANSAI}).trip
    origins = trip.origins[trip.named["Namba Station"].id]
    assert [origin.words for origin in origins] == ["seen at 0:00"]
    assert names_shown(KANSAI) == tuple(places)


def test_a_malformed_graph_or_truth_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match="graph"):
        request_task({**BASE, "graph": {"nodes": 1, "edges": 2}})
    for truth in (7, ["a", 1], {"nodes": 3}):
        with pytest.raises(SpecError):
            brief_of({**BASE, "text": "A walk", "truth": truth}, None)


def test_what_a_film_shows_is_for_the_scorer_alone(tmp_path: Path) -> None:
    film = write_clip(tmp_path / "walk.mp4", 40)
    brief = brief_of({**BASE, "truth": ["東京タワー", "Meiji Shrine"]}, film)
    assert isinstance(brief, Brief)
    assert brief.shown == ("東京タワー", "Meiji Shrine")
    parts = brief.parts(MediaStore(tmp_path / "media"))
    assert "Meiji" not in "".join(part.content for part in parts if isinstance(part.content, str))
    task = brief.task('{"request": {"video": [{"name": "Tokyo Tower"}, {"name": "Senso-ji Temple"}]}}')
    visits = [{"place": name, "arrive": "10:00", "leave": "10:45"} for name in ("Tokyo Tower",)]
    metrics = score(task, str({"days": [{"visits": visits}]}).replace("'", '"'), shown=brief.shown).metrics
    assert (metrics["video_precision"], metrics["video_recall"]) == (0.5, 0.5)
