"""Writes the prompt of each protocol; both are worded here, after what the published one asks for."""

import json

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon_trips.benchmarks.travelplanner.loader import TravelTask

FACTS = "Given information: "
QUERY = "Query: "

RULES = """\
What counts as a plan:
- It has one entry for each day, leaves the home city on day 1 and is back there on the last day.
- Only what the given information or the tools know exists: names in full, flights on their dates.
- A day's city is "from A to B" on a day of travel, else the one city. Its places lie in its cities, its night
  in the city where it ends. Every city is stayed in once, without a gap.
- A full day in a city has three meals and an attraction; a day of travel has transport; every night but the
  last day's has an accommodation, for at least its minimum nights.
- No restaurant and no attraction twice. Self-driving goes with neither flights nor taxis.
- The budget covers all people: a flight each, a car for every 5 (one's own) or 4 (taxi), a meal each, and as
  many rooms as the maximum occupancy asks for, each night."""

FORM = """\
Answer with one JSON object {"plan": [DAY, ...]}, each DAY with these texts, "-" for nothing:
{"days": 1, "current_city": "from A to B",
"transportation": "Flight Number: F0000000, from A to B, Departure Time: 08:00, Arrival Time: 09:30",
"breakfast": "NAME, CITY", "attraction": "NAME, CITY;NAME, CITY;", "lunch": "NAME, CITY",
"dinner": "NAME, CITY", "accommodation": "NAME, CITY"}
By car, "transportation" is "Self-driving, from A to B" or "Taxi, from A to B"."""

EXAMPLE = """\
You plan trips. From the information give a plan with the numbers of flights and the names of restaurants,
attractions and accommodations, all of them taken from that information; "-" is nothing. Write as here:

Day 1:
Current City: from Amberlow to Brine
Transportation: Flight Number: F0000001, from Amberlow to Brine, Departure Time: 08:00, Arrival Time: 09:30
Breakfast: -
Attraction: Brine Castle, Brine;Near Green, Brine;
Lunch: Tin Cup, Brine
Dinner: Old Kettle, Brine
Accommodation: Room by the Harbour, Brine

Day 2:
Current City: Brine
Transportation: -
Breakfast: Far Oven, Brine
Attraction: Brine Museum, Brine;
Lunch: Salt House, Brine
Dinner: The Pier, Brine
Accommodation: Room by the Harbour, Brine"""


def parts_of(task: TravelTask, protocol: PromptProtocol) -> tuple[Part, ...]:
    """The prompt in parts; the reference information, as published, is what arms show as `facts`."""
    facts = Part(content=f"\n{FACTS}{json.dumps(task.reference, ensure_ascii=False)}", shown="facts")
    query = Part(content=f"\n{QUERY}{' '.join(task.query.split())}")
    if protocol == "official":
        return (Part(content=EXAMPLE), facts, query, Part(content="\nTravel Plan:"))
    return (Part(content=RULES), facts, query, Part(content=f"\n{FORM}"))
