"""Tools that an agent may call, one per module; each public module defines one `Tool` of its own name.

Start at distance.py. `core` holds what a tool is and what tools share, `geometry` the calculations, `scene`
cameras, places and ways, `gazetteer` the places of Japan, `itinerary` the planning of trips. docs/tools.md is
made from these modules, and docs/adding-a-tool.md shows how to add one.
"""
