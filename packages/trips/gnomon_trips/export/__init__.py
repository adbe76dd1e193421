"""A planned trip for people and programs: page, Markdown, calendar and map data.

Start at `outputs.py`, which writes a `result.py` by file ending: Markdown itself, `page.py` (HTML),
`calendar.py` and `geojson.py`. What a page shows is in `trip_view.py` (facts), `checks.py` (each check of
the verifier, in words), `trip_map.py` and `day_lane.py` (drawings); the live page
shows the same parts. `travelplanner_check.py` checks plans of another benchmark.
"""
