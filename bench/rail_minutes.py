"""Prints how far the planner's rail minutes are from published journeys (bench/rail_minutes.csv).

    python -m bench.rail_minutes

The source is the page on which a pair's minutes stand: times of trains that ran, or a guide's figure.
They count no wait for the first train; the planner does.
"""

import csv
import statistics
from pathlib import Path

from gnomon_trips.itinerary.place import spread_min
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.trip import find


def main() -> None:
    """Print each pair, then the median error and the share within the planner's own spread."""
    japan, errors_min, within = embedded("japan"), [], 0
    for row in csv.DictReader(Path(__file__).with_suffix(".csv").read_text().splitlines()):
        ends = [answered(find(japan, row[end]), is_local=True).value.at for end in ("start", "end")]
        way = answered(japan.route(*ends, mode="rail"), is_local=True).value
        published = int(row["minutes"])
        errors_min.append(abs(way.minutes - published))
        within += errors_min[-1] <= spread_min(way.minutes, "estimate")
        print(f"{row['start']} - {row['end']}: {way.minutes} min, published {published} ({row['source']})")
    share = f"{within} of {len(errors_min)} within the stated spread"
    print(f"median error {statistics.median(errors_min):.0f} min; {share}; largest {max(errors_min)} min")


if __name__ == "__main__":
    main()
