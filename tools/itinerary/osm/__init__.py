"""A city out of an OpenStreetMap extract: its places, its opening hours and its streets on foot."""
