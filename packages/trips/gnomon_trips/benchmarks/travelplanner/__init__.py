"""TravelPlanner: trips of 3 to 7 days asked for in words, with all that is known of their cities and ways.

Start at `benchmark.py`. `loader.py` reads the published file, `query.py` the words of a query, `prompt.py`
asks, `scoring.py` reads the plan of a reply and scores it by the rules of `sandbox/rules.py` or
by the released code's (`official.py`); `floors.py` plans without a model; `audit.py` is found by the audit.
"""

from gnomon_trips.benchmarks.travelplanner.benchmark import travelplanner

__all__ = ["travelplanner"]
