"""A planned trip for people and programs: page, Markdown, calendar and map data."""
