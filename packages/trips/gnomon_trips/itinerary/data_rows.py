"""Reads the tables that the package brings along."""

import csv
import gzip
from importlib.resources import files


def data_rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of the package's data, which may be packed as .gz."""
    content = files("gnomon_trips.itinerary").joinpath("data", name).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    return list(csv.DictReader(text.decode().splitlines()))
