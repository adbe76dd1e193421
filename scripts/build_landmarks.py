"""Packs the landmarks of Japan for the gazetteer, one file for each licence.

    python scripts/build_landmarks.py

Reads two files of scripts/landmarks: `names.csv` (which landmarks, what they are called in both scripts,
their kind and importance: chosen by this project, CC0) and `positions.csv` (where they are, and which source
says so). A landmark without a position is left out and counted: none is ever put in from memory. Its names
are kept, so that nothing else is taken for it.
Sources and licences: packages/published/gnomon_published/gazetteer/data/ATTRIBUTION.md.
"""

import csv
import math
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent / "landmarks"
OUT = Path(__file__).parent.parent / "packages" / "published" / "gnomon_published" / "gazetteer" / "data"
FILES = {
    "wikidata": "landmarks.csv",
    "wikipedia": "landmarks-wikipedia.csv",
    "plateau": "landmarks-plateau.csv",
}
FIELDS = ("id", "city", "kind", "importance", "name_en", "name_ja", "aliases", "lat", "lon")
CITIES = {
    "Tokyo": (35.68, 139.6, 60.0),
    "Kyoto": (35.01, 135.76, 25.0),
    "Osaka": (34.67, 135.5, 20.0),
    "Nara": (34.68, 135.83, 15.0),
    "Hiroshima": (34.39, 132.45, 25.0),
    "Yokohama": (35.45, 139.64, 15.0),
}
"""Roughly where a city is, and how many kilometres its landmarks may be from there: catches slips."""


def main() -> None:
    """Write the files and say what is in them and what is left out."""
    names, positions = (
        _rows(HERE / "names.csv"),
        {row["wikidata"]: row for row in _rows(HERE / "positions.csv")},
    )
    twice = [name for name, count in Counter(row["wikidata"] for row in names).items() if count > 1]
    unused = sorted(positions.keys() - {row["wikidata"] for row in names})
    if twice or unused:
        raise SystemExit(f"named twice: {twice}; positions of no landmark: {unused}")
    packed: dict[str, list[dict[str, str]]] = {source: [] for source in FILES}
    left_out: list[dict[str, str]] = []
    for name in names:
        position = positions.get(name["wikidata"])
        if position is None:
            left_out.append(name)
            continue
        _check(name, position)
        fields = {"id": name["wikidata"], **name, "lat": position["lat"], "lon": position["lon"]}
        packed[position["source"]].append({field: fields[field] for field in FIELDS})
    for source, rows in packed.items():
        with (OUT / FILES[source]).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                sorted(rows, key=lambda row: (row["city"], -int(row["importance"]), row["name_en"]))
            )
    with (OUT / "landmarks-unplaced.csv").open("w", encoding="utf-8", newline="") as file:
        plain = csv.writer(file, lineterminator="\n")
        plain.writerow(("name_en", "name_ja", "aliases"))
        plain.writerows((row["name_en"], row["name_ja"], row["aliases"]) for row in left_out)
    counts = Counter(row["city"] for rows in packed.values() for row in rows)
    print(f"{counts.total()} landmarks: {dict(counts)}")  # noqa: T201  what its user waits for
    titles = [row["name_en"] for row in left_out]
    print(f"left out, no position with a licence: {len(left_out)}: {', '.join(titles)}")  # noqa: T201


def _check(name: dict[str, str], position: dict[str, str]) -> None:
    """Stop at a position that cannot be right."""
    lat, lon, reach_km = CITIES[name["city"]]
    north_km = (float(position["lat"]) - lat) * 111.2
    east_km = (float(position["lon"]) - lon) * 111.2 * math.cos(math.radians(lat))
    if math.hypot(north_km, east_km) > reach_km:
        raise SystemExit(f"{name['name_en']} is not in {name['city']}: {position}")


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


if __name__ == "__main__":
    main()
