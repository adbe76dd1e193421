"""Itineraries: generated trips on real maps, with a known optimum or a proof that there is no plan.

Start at `benchmark.py`. `task.py` says what sample k is and `generate.py` makes it, from the families of
`city_day.py` (out of a city's `pool.py`), `rail_trip.py` and `visit_graph.py`; `brief.py` is a request of a
user's own. `prompt.py` asks, `scoring.py` scores.
"""

from gnomon_trips.benchmarks.itinerary.benchmark import itinerary

__all__ = ["itinerary"]
