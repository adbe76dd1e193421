"""A planned trip for people and programs: page, Markdown, calendar and map data.

Start at `outputs.py`, which writes a `result.py` by file ending: Markdown itself, `page.py` (HTML),
`calendar.py` and `geojson.py`. `travelplanner.py` checks plans of another benchmark.
"""
