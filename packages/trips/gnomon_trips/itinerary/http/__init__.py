"""Providers of places and ways over HTTP; used only when they are configured.

`client.py` asks and maps failures; `nominatim.py` and `overpass.py` give places, `routers.py` (Valhalla,
OSRM) ways, `google.py` both. `packages/trips/gnomon_trips/itinerary/registry.py` puts them together.
"""
