"""A made-up file of MapEval's format: towns, times and routes that do not exist."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WEEK = (
    "Monday: Closed, Tuesday: 9:00\u202fAM\u2009–\u20095:00\u202fPM, "
    "Wednesday: 3:00\u2009–\u20098:00\u202fPM, Thursday: Open 24 hours, "
    "Friday: 6:00\u202fPM\u2009–\u20092:00\u202fAM, Saturday: Closed, Sunday: Closed."
)
PLACES = f"""Information of <b>Amberlow Museum</b>:
- Location: 1 Quill Lane, Amberlow(10.0000, 20.0000).
- Open: {WEEK}
- Rating: 4.5. (1200 ratings).
- Price Level: Moderate.
- Serves Lunch.

Information of <b>Brine Castle</b>:
- Location: Castle Hill, Amberlow(10.0900, 20.0000).
- Phone Number: +00 12 34.

"""
CAFES = """Nearby Cafes of Amberlow Museum are (sorted by distance in ascending order):
1. <b>Tin Cup</b>
   - Address: 3 Quill Lane, Amberlow.
   - Rating: 4. (600 ratings).

   - Price Level: Inexpensive.
2. <b>Old Kettle</b>
   - Address: 9 Quill Lane, Amberlow.
   - Rating: 4.6. (90 ratings).
"""
PARKS = """Nearby Parks of Amberlow Museum are (in 1000 m radius):
1. <b>Far Green</b>(10.0060, 20.0000)
2. <b>Near Green</b>(10.0010, 20.0000)
"""
TRAVEL = """Travel Time from Amberlow Museum to Brine Castle on foot is 1 hour 5 mins (5.1 km).
Travel Time from Amberlow Museum to Brine Castle by car is 12 mins (6.0 km).
Travel Time from Brine Castle to Amberlow Museum by car is 9 mins (5.8 km).
Distance from Brine Castle to Port to Port is 300 m (1 min) by car.
"""
NOTE = '<div style="font-size:0.9em">Pass by Tin Cup (on the left)</div>'
ROUTES = f"""There are 2 routes from Amberlow Museum to Brine Castle by car. They are:
1. Via North Rd | 12 mins | 6.0 km
 - Head <b>north</b> on <b>Quill Ln</b>
 - Turn <b>left</b> onto <b>North Rd</b>/<wbr/><b>B1</b>{NOTE}
 - Turn <b>right</b> onto <b>Castle St</b>
2. Via Ring Rd | 15 mins | 5.0 km
 - (5 mins | 2.0 km) Head <b>south</b> on <b>Quill Ln</b>
 - (10 mins | 3.0 km) At the roundabout, take the <b>2nd</b> exit onto <b>Ring Rd</b>
"""
CONTEXT = PLACES + CAFES + PARKS + TRAVEL + ROUTES + "Today is Sunday.\n"

Row = dict[str, Any]


def row(
    number: int,
    question: str,
    options: Sequence[str],
    correct: int,
    context: str,
    task: str | None = "poi",
) -> Row:
    """One question as it is published."""
    return {
        "id": number,
        "question": question,
        "answer": {"type": "mcq", "options": list(options), "correct": correct},
        "context": context,
        "classification": task,
    }


YES_NO = ["Yes", "No", "", ""]
LEFT = "Turn left onto North Rd/B1"
ROWS = [
    row(1, "What's the rating of Amberlow Museum?", ["4.1", "4.5", "4.6", "3.9"], 1, PLACES + CAFES),
    row(2, "Is Amberlow Museum open on Tuesday at 4:00 PM?", YES_NO, 0, PLACES),
    row(
        3,
        "I am at Amberlow Museum. What is the nearest cafe?",
        ["Old Kettle", "Tin Cup "],
        1,
        CAFES,
        "nearby",
    ),
    row(
        4,
        "I drive from Amberlow Museum to Brine Castle and return by car. How long does the journey take?",
        ["12 mins", "21 mins", "24 mins", "18 mins"],
        1,
        PLACES + TRAVEL,
        "trip",
    ),
    row(
        5,
        "I am driving from Amberlow Museum to Brine Castle via North Rd. "
        "After reaching Quill Ln, where should I go next?",
        ["Turn right onto Castle St", LEFT, "Head south on Quill Ln", "Turn left onto Ring Rd"],
        1,
        ROUTES,
        "routing",
    ),
    row(
        6,
        "What is the straight-line distance between Amberlow Museum and Brine Castle?",
        ["9.95 km", "12.1 km", "7.5 km", "99 km"],
        0,
        PLACES,
    ),
    row(
        7,
        "I am at Amberlow Museum. Find a nearby cafe north of it.",
        ["Old Kettle", "Tin Cup"],
        -1,
        CAFES,
        None,
    ),
    row(
        8,
        "Which is the shortest driving route from Amberlow Museum to Brine Castle?",
        ["Via North Rd", "Via Ring Rd", "", ""],
        1,
        ROUTES,
        "routing",
    ),
    row(
        9,
        "I am at Amberlow Museum. How many nearby cafes have at least 500 ratings?",
        ["0", "1", "2", "3"],
        1,
        CAFES,
        "nearby",
    ),
    row(
        10,
        "What is the second nearest park to Amberlow Museum?",
        ["Far Green", "Near Green"],
        0,
        PLACES + PARKS,
        "nearby",
    ),
]


def written(folder: Path) -> Path:
    """The folder, with the made-up file in it."""
    (folder / "dataset.json").write_text(json.dumps(ROWS), encoding="utf-8")
    return folder
