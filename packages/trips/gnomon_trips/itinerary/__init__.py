"""Itineraries: places, ways, requests, plans, the scheduler and the verifier behind the itinerary tools.

A `request.py` becomes a `trip.py` (its names resolved by a `provider.py`, which `registry.py` picks), then
a `problem.py`, which `solve.py` solves day by day (`schedule.py`). A `draft.py` is a plan as a model writes
it, `plan.py` the strict form. `verify/` checks plans. Providers: `osm/` (extracts), `japan/`, `http/`
(services) and `city_level.py`. Start at `trip.py` and `verify/verify.py`; the package's README says what
is measured.
"""
