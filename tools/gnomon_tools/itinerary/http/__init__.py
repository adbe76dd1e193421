"""Providers of places and ways over HTTP; used only when they are configured.

`client.py` asks and maps failures; `nominatim.py` and `overpass.py` give places, `routers.py` (Valhalla,
OSRM) ways, `google.py` both. `tools/gnomon_tools/itinerary/registry.py` puts them together.
"""
