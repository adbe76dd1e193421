"""Names streets, shops and cameras of generated worlds. The names carry no meaning."""

from random import Random

STREETS = (
    "Acacia", "Barley", "Chestnut", "Dogwood", "Elder", "Foxglove", "Gentian", "Hawthorn", "Iris", "Juniper",
    "Kestrel", "Larch", "Mallow", "Nettle", "Orchard", "Poplar", "Quince", "Rowan", "Sorrel", "Thistle",
    "Umber", "Violet", "Willow", "Yarrow",
)  # fmt: skip
PLACES = (
    ("Bakery", "shop"), ("Bookshop", "shop"), ("Pharmacy", "shop"), ("Grocer", "shop"), ("Florist", "shop"),
    ("School", "school"), ("Library", "library"), ("Post Office", "office"), ("Cinema", "cinema"),
    ("Clinic", "clinic"), ("Museum", "museum"), ("Fire Station", "station"),
)  # fmt: skip
GREENS = ("Park", "Garden", "Playground")
THINGS = ("Vending Machine", "Printer", "Reception", "Water Cooler", "Notice Board", "First Aid Box")
ROOMS = ("Office", "Lab", "Meeting Room", "Studio", "Store", "Archive", "Workshop", "Classroom")


def camera_ids(rng: Random, count: int) -> list[str]:
    """Camera ids in a random order; every place uses the same ones, so they tell nothing.

    >>> sorted(camera_ids(Random(0), 3))
    ['c01', 'c02', 'c03']
    """
    return [f"c{number:02d}" for number in rng.sample(range(1, count + 1), count)]
