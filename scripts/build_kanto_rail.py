"""Packs the railways round Tokyo: stations, and the mean minutes of timetabled trains between them.

    python scripts/build_kanto_rail.py STATIONS.csv.gz RAILWAYS.json.gz GROUPS.json.gz HOPS.csv.gz

The four files are cut from the data of Mini Tokyo 3D (MIT; see KANTO-RAIL.md): stations
(id, railway, name_ja, name_en, lat, lon), railways (id and its stations in order), groups (what is one
interchange, and in it what is one station), hops (from, to, mean_min, trains).
"""

import csv
import gzip
import io
import json
import sys
from collections import defaultdict
from pathlib import Path

OUT = Path(__file__).parent.parent / "packages" / "trips" / "gnomon_trips" / "itinerary" / "data"


def main(stations: Path, railways: Path, groups: Path, hops: Path) -> None:
    """Write kanto-stations.csv.gz and kanto-hops.csv.gz; minutes are of both directions together."""
    rows = [row for row in _rows(stations) if row["lat"] and row["lon"]]
    number = {row["id"]: place for place, row in enumerate(rows)}
    order = {
        station: place
        for railway in json.loads(gzip.decompress(railways.read_bytes()))
        for place, station in enumerate(railway["stations"])
    }
    interchange = {row["id"]: f"{place}" for place, row in enumerate(rows)}
    for place, group in enumerate(json.loads(gzip.decompress(groups.read_bytes()))):
        for part, ids in enumerate(group):
            interchange |= dict.fromkeys(ids, f"g{place}.{part}")
    _write(
        "kanto-stations.csv.gz",
        ("railway", "order", "interchange", "name_ja", "name_en", "lat", "lon"),
        (
            (
                row["railway"],
                order.get(row["id"], -1),
                interchange[row["id"]],
                row["name_ja"],
                row["name_en"],
                row["lat"],
                row["lon"],
            )
            for row in rows
        ),
    )
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for hop in _rows(hops):
        if hop["from"] in number and hop["to"] in number and hop["mean_min"]:
            pair = sorted((number[hop["from"]], number[hop["to"]]))
            total = sums[pair[0], pair[1]]
            total[0] += float(hop["mean_min"]) * int(hop["trains"])
            total[1] += int(hop["trains"])
    _write(
        "kanto-hops.csv.gz",
        ("start", "end", "minutes", "trains"),
        (
            (*pair, f"{minutes / trains:.1f}", int(trains))
            for pair, (minutes, trains) in sorted(sums.items())
            if trains
        ),
    )


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(gzip.decompress(file.read_bytes()).decode().splitlines()))


def _write(name: str, fields: tuple[str, ...], rows: object) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows(rows)  # type: ignore[arg-type] # any iterable of rows
    (OUT / name).write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    print(f"{name}: {text.getvalue().count(chr(10)) - 1:,} rows, {(OUT / name).stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]))
