"""Compares Gnomon's walking routes with those of a running Valhalla with tiles of the same extract.

python bench/valhalla_ways.py --url http://127.0.0.1:8002 [--city helsinki]

Its wheel holds programs that need no Python of their own: `pip download pyvalhalla==3.9.1 --no-deps
--python-version 3.12 --only-binary=:all: --platform manylinux_2_28_x86_64`, unpack it, then
`valhalla_build_config.py --mjolnir-tile-dir tiles > conf.json`, `bin/valhalla_build_tiles -c conf.json
FILE.osm.pbf` and `bin/valhalla_service conf.json 1`.
"""

import argparse
import asyncio
import random
import statistics

from tools.itinerary.http.routers import Valhalla
from tools.itinerary.osm.city import city_files, read_city

KINDS = ("museum", "gallery", "attraction", "place_of_worship", "library", "restaurant", "hotel", "park")
TABLES, POINTS, LEAST_M = 20, 16, 100


async def compared(url: str, name: str) -> list[tuple[float, float]]:
    """Ratios of metres and of minutes, ours over theirs, for pairs at least LEAST_M apart."""
    city, theirs = read_city(city_files()[name]), Valhalla(url)
    places = [place for place in city.places.values() if place.kind in KINDS]
    chance, found = random.Random(0), []
    for _ in range(TABLES):
        points = [place.at for place in chance.sample(places, POINTS)]
        one, other = (await city.matrix(points)).value, (await theirs.matrix(points)).value
        for a in range(POINTS):
            for b in range(POINTS):
                ours_m, theirs_m = one.metres[a][b], other.metres[a][b]
                if ours_m is None or theirs_m is None or theirs_m < LEAST_M:
                    continue
                found.append((ours_m / theirs_m, (one.minutes[a][b] or 0) / (other.minutes[a][b] or 1)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8002")
    parser.add_argument("--city", default="helsinki")
    given = parser.parse_args()
    found = asyncio.run(compared(given.url, given.city))
    for name, ratios in zip(("metres", "minutes"), zip(*found, strict=True), strict=True):
        cuts = statistics.quantiles(ratios, n=20)
        near = sum(abs(one - 1) <= 0.1 for one in ratios)
        print(
            f"{name}, ours over Valhalla's, {len(ratios)} pairs: median {statistics.median(ratios):.3f},"
            f" 5 % {cuts[0]:.3f}, 95 % {cuts[18]:.3f}; within 10 %: {near}/{len(ratios)}"
        )


if __name__ == "__main__":
    main()
