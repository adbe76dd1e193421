"""The gazetteer answers by its evidence and says how far that is."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.gazetteer.areas import areas
from gnomon_published.gazetteer.search import (
    NoSuchPlace,
    areas_of,
    distance_m,
    lies_in,
    place,
    resolve,
    reverse,
    stations_near,
)
from gnomon_published.gazetteer.spelling import latin_key, spelling
from gnomon_published.gazetteer.tables import tables


def _first(name: str, **asked: object) -> str:
    return resolve(name, **asked)[0].place.id  # type: ignore[arg-type]


def test_the_offices_of_all_municipalities_are_in_their_municipality(geo_dir: Path) -> None:
    with (geo_dir / "localgovjp-utf8.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1916
    right = {"prefecture": 0, "municipality": 0}
    for row in rows:
        found = reverse(float(row["lat"]), float(row["lng"]))
        assert found is not None
        code = f"jp:{row['lgcode'][:5]}"
        right["prefecture"] += found.prefecture.id == code[:5]
        right["municipality"] += code in {found.municipality.id, found.ward and found.ward.id}
    assert right["prefecture"] / len(rows) >= 0.995, right
    assert right["municipality"] / len(rows) >= 0.98, right


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (
            ("Shibuya", "Shibuya-ku", "Shibuya City", "SHIBUYA WARD", "渋谷", "渋谷区", "Sibuya-ku"),
            "jp:13113",
        ),
        (("Osaka", "Ōsaka Prefecture", "大阪府", "Osaka-fu", "Oosaka"), "jp:27"),
        (("Osaka City", "大阪市", "Ōsaka-shi"), "jp:27100"),
        (("四日市", "四日市市", "Yokkaichi"), "jp:24202"),
        (("北海道", "Hokkaidō", "Hokkaido"), "jp:01"),
        (("鎌ヶ谷市", "鎌ケ谷市", "Kamagaya"), "jp:12224"),
    ],
)
def test_usual_spellings_of_one_place_are_one_place(names: tuple[str, ...], wanted: str) -> None:
    assert {name: _first(name) for name in names} == dict.fromkeys(names, wanted)


def test_the_word_station_asks_for_a_station() -> None:
    for name in ("Tokyo Station", "東京駅", "Tōkyō eki"):
        found = resolve(name)[0].place
        assert (found.kind, found.name_ja) == ("station", "東京")
        assert found.shinkansen
        assert "東海旅客鉄道 東海道新幹線" in found.lines


def test_a_shared_name_gives_all_its_places_and_a_parent_settles_it() -> None:
    shared = resolve("Fuchu", kinds=["municipality"], limit=10)
    assert {hit.place.within[0] for hit in shared} == {"jp:13", "jp:34"}
    assert {hit.score for hit in shared} == {0.9}
    settled = resolve("Fuchu City", within="jp:34")
    assert [(hit.place.name_ja, hit.score) for hit in settled] == [("府中市", 1.0), ("府中町", 0.95)]
    assert len(resolve("Chuo-ku", limit=50)) >= 8
    assert _first("Chuo-ku", within="jp:27100") == "jp:27128"


def test_a_name_that_is_nearly_one_is_a_candidate_with_a_low_score() -> None:
    hits = resolve("Shinjyuku")
    assert hits[0].place.id == "jp:13104"
    assert hits[0].score < 0.7
    assert resolve("Xyzzyx") == resolve("") == resolve("   ") == []


def test_a_point_far_from_any_town_is_nowhere_and_a_lake_is_approximate() -> None:
    assert reverse(48.8566, 2.3522) is None
    lake = reverse(35.25, 136.05)
    assert lake is not None
    assert lake.approximate
    assert lake.prefecture.name_en == "Shiga"


def test_the_point_of_a_city_of_wards_is_the_median_of_its_towns() -> None:
    sendai = place("jp:04100")
    assert distance_m(sendai.lat_deg, sendai.lon_deg, 38.2682, 140.8694) < 5_000
    assert [area.name_ja for area in areas_of(place("jp:04101"))] == ["宮城県", "仙台市"]


def test_stations_lie_within_the_radius_in_order_of_distance() -> None:
    found = stations_near(35.6595, 139.7005, radius_m=1_500, limit=50)
    assert [one.place.name_ja for one in found][:2] == ["渋谷", "神泉"]
    distances = [one.distance_m for one in found]
    assert distances == sorted(distances)
    assert distances[-1] <= 1_500


def test_an_unknown_id_is_refused() -> None:
    for wrong in ("jp:99", "jp:13113:nowhere", "jp", "", "jp:station:x", "jp:13113:"):
        with pytest.raises(NoSuchPlace):
            place(wrong)


def test_every_area_is_found_by_its_id_and_lies_where_its_code_says() -> None:
    assert len(areas().municipalities) == 1916
    for one in areas().municipalities:
        assert place(one.id) is one
        assert one.within[0] == one.id[:5]
        assert lies_in(one, place(one.within[0]))
        assert any(
            hit.place == one for hit in resolve(one.name_ja, within=one.within[-1], kinds=["municipality"])
        )


@given(st.integers(0, 189_958))
def test_the_point_of_a_town_lies_in_that_town(row: int) -> None:
    town = tables().towns.slice(row, 1).to_pylist()[0]
    found = reverse(town["lat_udeg"] / 1e6, town["lon_udeg"] / 1e6)
    assert found is not None
    assert found.distance_m < 1.0
    assert place(found.town.id).name_ja == found.town.name_ja


@given(st.text(max_size=40))
def test_any_text_is_taken_apart(name: str) -> None:
    assert spelling(name).kinds
    assert latin_key(name).strip("abcdefghijklmnopqrstuvwxyz0123456789") == ""
    assert len(resolve(name, limit=3)) <= 3
