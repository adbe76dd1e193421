"""A made-up file of TravelPlanner's format: towns, prices and flights that do not exist."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EASY = (
    "Please plan a 3-day trip for one person from Amberlow to Brine, from March 1st to March 3rd, 2022,"
    " with a budget of $1,000."
)
HARD = (
    "Could you plan a 5-day trip for a group of 6, departing from Amberlow and visiting 2 cities in Texas"
    " from March 1st to March 5th, 2022? Our budget is $6,000. We need entire rooms that allow pets, we would"
    " love to try Indian and French cuisines, and we do not plan on self-driving."
)


def lodging(name: str, price: float, **more: Any) -> dict[str, Any]:
    """A row of lodgings."""
    return {
        "NAME": name,
        "price": price,
        "room type": "Entire home/apt",
        "house_rules": "No smoking",
        "minimum nights": 1.0,
        "maximum occupancy": 2,
        "review rate number": 3.0,
        "city": "",
        **more,
    }


def restaurant(name: str, cost: int, cuisines: str = "Tea, Cafe") -> dict[str, Any]:
    """A row of restaurants."""
    return {"Name": name, "Average Cost": cost, "Cuisines": cuisines, "Aggregate Rating": 4.0, "City": ""}


def attraction(name: str) -> dict[str, Any]:
    """A row of attractions."""
    return {"Name": name, "Latitude": 1.0, "Longitude": 2.0, "Address": "1 Quay", "Phone": "", "City": ""}


def flight(number: str, origin: str, destination: str, date: str, price: int) -> dict[str, Any]:
    """A row of flights."""
    return {
        "Flight Number": number,
        "Price": price,
        "DepTime": "08:00",
        "ArrTime": "09:30",
        "ActualElapsedTime": "1 hours 30 minutes",
        "FlightDate": date,
        "OriginCityName": origin,
        "DestCityName": destination,
        "Distance": 500.0,
    }


def ride(mode: str, origin: str, destination: str, cost: int) -> str:
    """The text of a ride."""
    return (
        f"{mode}, from {origin} to {destination}, duration: 4 hours 5 mins, distance: 1,204 km, cost: {cost}"
    )


def city(name: str) -> dict[str, Any]:
    """Lodgings, restaurants and attractions of a town."""
    return {
        f"Attractions in {name}": [
            attraction(f"{name} {sight}") for sight in ("Castle", "Green", "Museum", "Zoo")
        ],
        f"Restaurants in {name}": [
            *(restaurant(f"{name} Diner {number}", 10 + number) for number in range(8)),
            restaurant(f"{name} Spice", 40, "Indian, Tea"),
            restaurant(f"{name} Bistro", 50, "French, Cafe"),
        ],
        f"Accommodations in {name}": [
            lodging(f"{name} Cheap", 50.0, **{"minimum nights": 3.0}),
            lodging(f"{name} Shared", 60.0, **{"room type": "Shared room"}),
            lodging(f"{name} Strict", 80.0, house_rules="No pets & No visitors"),
            lodging(f"{name} House", 100.0),
        ],
    }


def ways(origin: str, destination: str, date: str, number: str) -> dict[str, Any]:
    """Flight, car and taxi between two towns."""
    return {
        f"Flight from {origin} to {destination} on {date}": [flight(number, origin, destination, date, 100)],
        f"Self-driving from {origin} to {destination}": ride("self-driving", origin, destination, 30),
        f"Taxi from {origin} to {destination}": ride("taxi", origin, destination, 300),
    }


BRINE = {
    **city("Brine"),
    **ways("Amberlow", "Brine", "2022-03-01", "F1000001"),
    **ways("Brine", "Amberlow", "2022-03-03", "F1000002"),
}
TEXAS = {
    **city("Brine"),
    **city("Calder"),
    **ways("Amberlow", "Brine", "2022-03-01", "F1000001"),
    **ways("Brine", "Calder", "2022-03-03", "F1000003"),
    **ways("Calder", "Amberlow", "2022-03-05", "F1000004"),
}


def day(number: int, where: str, **fields: str) -> dict[str, Any]:
    """A day of a plan, with "-" for what is not said."""
    blank = dict.fromkeys(
        ("transportation", "breakfast", "attraction", "lunch", "dinner", "accommodation"), "-"
    )
    return {"days": number, "current_city": where, **blank, **fields}


GOOD_PLAN = [
    day(
        1,
        "from Amberlow to Brine",
        transportation="Flight Number: F1000001, from Amberlow to Brine, Departure Time: 08:00",
        attraction="Brine Castle, Brine;",
        dinner="Brine Diner 0, Brine",
        accommodation="Brine House, Brine",
    ),
    day(
        2,
        "Brine",
        breakfast="Brine Diner 1, Brine",
        attraction="Brine Green, Brine;Brine Museum, Brine;",
        lunch="Brine Diner 2, Brine",
        dinner="Brine Diner 3, Brine",
        accommodation="Brine House, Brine",
    ),
    day(
        3,
        "from Brine to Amberlow",
        transportation="Flight Number: F1000002, from Brine to Amberlow, Departure Time: 08:00",
        breakfast="Brine Diner 4, Brine",
    ),
]
GOOD_COST_USD = 100 + 100 + 2 * 100 + 10 + 11 + 12 + 13 + 14


def rows() -> list[dict[str, Any]]:
    """The rows of the file."""
    return [
        {"idx": 1, "query": EASY, "annotated_plan": GOOD_PLAN, "reference_information": BRINE},
        {"idx": 2, "query": HARD, "annotated_plan": None, "reference_information": TEXAS},
    ]


def written(folder: Path, *more: Mapping[str, Any] | str) -> Path:
    """The folder, with the made-up file in it and further rows or lines."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in (*rows(), *more)]
    (folder / "train.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder
