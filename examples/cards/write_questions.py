"""Writes forty questions for each of six tool servers, drawn by a seed, and the data that three serve.

    python examples/cards/write_questions.py --seed 1 --out FOLDER

Answers come from the standard library and from the data as it was drawn, never from the servers. Beside the
questions stands `calls.jsonl`: the call that answers each, for the rules of `player.py`.
"""

import argparse
import json
import os
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

EACH = 10  # questions of a kind; four kinds a server
NUMBER = {"number": {"tolerance": 0.001, "relative": True}}
EXACT = {"number": {"tolerance": 0}}
ZONES = (Path(__file__).parent.parent / "evidence" / "zones.txt").read_text(encoding="utf-8").split()
STREETS = ("Alder Street", "Birch Lane", "Harbour Road", "Mill Street", "Quay Street", "Station Road")
PEOPLE = ("Aino", "Bruno", "Chiara", "Dmitri", "Elin", "Farid", "Greta", "Hugo")
METRES = {"kilometer": 1000, "mile": 1609.344, "foot": 0.3048, "yard": 0.9144, "nautical mile": 1852}
GRAMS = {"kilogram": 1000, "pound": 453.59237, "ounce": 28.349523125, "stone": 6350.29318}
METRES_A_SECOND = {"kilometers per hour": 1 / 3.6, "miles per hour": 0.44704, "knots": 1852 / 3600}


@dataclass(frozen=True)
class Asked:
    """A question, its answer, and a call that gives it: `found` finds it in the call's result."""

    task: str
    question: str
    answer: str | float
    scorer: Any
    tool: str
    arguments: dict[str, Any]
    found: str


def main() -> None:
    """Write the questions, the calls and the data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    random_source = random.Random(options.seed)
    calls = []
    for server, questions in {
        "calculator": sums(random_source),
        "time": times(random_source),
        "units": units(random_source),
        "files": files(random_source, out / "notes"),
        "sqlite": sightings(random_source, out / "sightings.db"),
        "git": commits(random_source, out / "repository"),
    }.items():
        lines = []
        for number, asked in enumerate(questions):
            row = {"id": f"{server}-{number:02}", "task": asked.task, "question": asked.question}
            lines.append(row | {"answer": asked.answer, "scorer": asked.scorer})
            call = {"tool": asked.tool, "arguments": asked.arguments, "found": asked.found}
            calls.append(row | call | {"answer": str(asked.answer)})
        write_lines(out / f"{server}.jsonl", lines)
    write_lines(out / "calls.jsonl", calls)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def sums(random_source: random.Random) -> Iterator[Asked]:
    """Products of three digits, chains, powers, and decimals."""
    draw = random_source.randrange
    for _ in range(EACH):
        a, b, c, d = draw(120, 999), draw(120, 999), draw(12, 99), draw(3, 9)
        for task, expression in (
            ("product", f"{a} * {b}"),
            ("chain", f"({a} + {b}) * {c} - {draw(1000, 9999)}"),
            ("power", f"{c} ** {d}"),
            ("decimals", f"{a / 100} * {b / 10} / {c / 10}"),
        ):
            answer = eval(expression)  # noqa: S307 our own digits
            question = f"What is {expression.replace('**', 'to the power of').replace('*', '×')}?"
            yield Asked(
                task, question, answer, NUMBER, "calculate", {"expression": expression}, r"(-?[\d.]+)"
            )


def times(random_source: random.Random) -> Iterator[Asked]:
    """Clock times in another zone; zones without summer time, so that no date is needed."""
    day = datetime(2026, 3, 1, tzinfo=UTC)
    offset = {zone: ZoneInfo(zone).utcoffset(day) or timedelta() for zone in ZONES}
    left = {f"{step}hours{end}": EACH for step in ("whole ", "parts of ") for end in ("", ", another day")}
    while any(left.values()):
        start, end = random_source.sample(ZONES, 2)
        there = day + timedelta(minutes=15 * random_source.randrange(96))
        shift = offset[end] - offset[start]
        task = "parts of hours" if shift % timedelta(hours=1) else "whole hours"
        task += ", another day" if (there + shift).date() != there.date() else ""
        if not shift or not left[task]:
            continue
        left[task] -= 1
        question = f"When it is {there:%H:%M} in {start}, what time is it in {end} (24-hour clock, HH:MM)?"
        arguments = {"source_timezone": start, "time": f"{there:%H:%M}", "target_timezone": end}
        answer = f"{there + shift:%H:%M}"
        yield Asked(task, question, answer, "time", "convert_time", arguments, r"(?s)target.*?T(\d\d:\d\d)")


def units(random_source: random.Random) -> Iterator[Asked]:
    """Lengths, masses, speeds and temperatures in another unit."""
    for task, sizes in (("length", METRES), ("mass", GRAMS), ("speed", METRES_A_SECOND)):
        for _ in range(EACH):
            start, end = random_source.sample(list(sizes), 2)
            value = random_source.randrange(20, 9000) / 10
            answer = round(value * sizes[start] / sizes[end], 6)
            yield converted(task, value, start, end, answer, NUMBER)
    for _ in range(EACH):
        start, end = random_source.sample(["celsius", "fahrenheit", "kelvin"], 2)
        kelvin = random_source.randrange(2200, 3800) / 10
        scales = {"kelvin": kelvin, "celsius": kelvin - 273.15, "fahrenheit": kelvin * 1.8 - 459.67}
        value = round(scales[start], 2)
        yield converted(
            "temperature", value, start, end, round(scales[end], 2), {"number": {"tolerance": 0.1}}
        )


def converted(task: str, value: float, start: str, end: str, answer: float, scorer: Any) -> Asked:
    """A question about one conversion."""
    question = f"Convert {value} from {start} to {end}: what is the number?"
    arguments = {"value": value, "from_unit": start, "to_unit": end}
    return Asked(
        task, question, answer, scorer, f"convert_{task}", arguments, r'converted_value":\s*(-?[\d.]+)'
    )


def files(random_source: random.Random, folder: Path) -> Iterator[Asked]:
    """Notes on cameras, one file each: its number or its words, where it is named and where it is not."""
    folder.mkdir(exist_ok=True)
    cameras = [f"c{number:02}" for number in range(1, 25)]
    ranges_m = random_source.sample(range(11, 99), len(cameras))
    codes = random_source.sample(range(1000, 9999), len(cameras))
    notes = []
    for camera, range_m, code in zip(cameras, ranges_m, codes, strict=True):
        street, name = random_source.choice(STREETS), f"{camera}-{code}.md"
        text = f"# Camera {camera}\n\nStands in {street}. Sees {range_m} metres.\nSerial number {code}.\n"
        (folder / name).write_text(text, encoding="utf-8")
        notes.append((camera, range_m, code, street, name))
    for camera, range_m, code, street, name in random_source.sample(notes, EACH):
        read = ("read_text_file", {"path": name})
        search = ("search_files", {"path": ".", "pattern": f"{camera}*"})
        named, unnamed = f"the camera in the file {name}", f"camera {camera}? Its file is in the folder “.”."
        number, words = r"Sees (\d+)", r"Stands in ([\w ]+)"
        yield Asked("number", f"How many metres does {named} see?", range_m, EXACT, *read, number)
        yield Asked("words", f"In which street does {named} stand?", street, "text", *read, words)
        question = f"Which four digits stand in the name of the file of {unnamed}"
        yield Asked("name of a file", question, str(code), "text", *search, r"-(\d{4})\.md")
        question = f"How many metres is the range of {unnamed}"
        yield Asked("file to be found", question, range_m, EXACT, *read, number)


def sightings(random_source: random.Random, path: Path) -> Iterator[Asked]:
    """Who was seen where and when, in a database of two tables."""
    path.unlink(missing_ok=True)
    street_of = {f"c{number:02}": random_source.choice(STREETS) for number in range(1, 13)}
    cameras, streets = list(street_of), sorted(set(street_of.values()))
    choose, minutes = random_source.choice, range(1440)
    seen = [(choose(cameras), choose(PEOPLE), choose(minutes)) for _ in range(300)]
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE cameras (id TEXT, street TEXT)")
        database.execute("CREATE TABLE sightings (camera TEXT, person TEXT, minute INTEGER)")
        database.executemany("INSERT INTO cameras VALUES (?, ?)", street_of.items())
        database.executemany("INSERT INTO sightings VALUES (?, ?, ?)", seen)

    def asked(task: str, question: str, answer: int, query: str) -> Asked:
        call = {"query": f"SELECT {query}"}
        return Asked(task, question, answer, EXACT, "read_query", call, r": (\d+)")

    told = "The tables are cameras(id, street) and sightings(camera, person, minute)."
    places = random_source.sample([(person, street) for person in PEOPLE for street in streets], EACH)
    for camera, (person, street) in zip(random_source.sample(cameras, EACH), places, strict=True):
        end, first = random_source.choice([("MIN", "first"), ("MAX", "last")])
        own = [(at, minute) for at, who, minute in seen if who == person]
        here = f"FROM sightings WHERE camera = '{camera}'"
        yield asked(
            "count",
            f"{told} How many sightings has camera {camera}?",
            sum(at == camera for at, _, _ in seen),
            f"COUNT(*) {here}",
        )
        yield asked(
            f"{first} minute",
            f"{told} What is the {first} minute at which camera {camera} saw someone?",
            (min if end == "MIN" else max)(minute for at, _, minute in seen if at == camera),
            f"{end}(minute) {here}",
        )
        yield asked(
            "two tables",
            f"{told} How often was {person} seen in {street}?",
            sum(street_of[at] == street for at, _ in own),
            "COUNT(*) FROM sightings JOIN cameras ON cameras.id = sightings.camera "
            f"WHERE street = '{street}' AND person = '{person}'",
        )
        yield asked(
            "tables to be found",
            f"The database holds who was seen by which camera. How often did camera {camera} see {person}?",
            sum(at == camera for at, _ in own),
            f"COUNT(*) {here} AND person = '{person}'",
        )


def commits(random_source: random.Random, folder: Path) -> Iterator[Asked]:
    """A repository of camera ranges: who committed, when, with what message, and what a file held then."""
    if folder.exists():
        raise SystemExit(f"{folder} is there already: take an empty folder")
    git(".", "init", "--quiet", "--initial-branch", "main", str(folder))
    day, history = datetime(2026, 1, 5, 9, tzinfo=UTC), []
    ranges_m = {camera: random_source.randrange(20, 90) for camera in ("c01", "c02", "c03")}
    for number, code in enumerate(random_source.sample(range(100, 999), 15), start=1):
        ranges_m |= {camera: random_source.randrange(20, 90) for camera in ranges_m}
        person, day = random_source.choice(PEOPLE), day + timedelta(days=random_source.randrange(1, 9))
        text = "".join(f"{camera} {range_m}\n" for camera, range_m in ranges_m.items())
        (folder / "ranges.txt").write_text(text, encoding="utf-8")
        message = f"survey {code}"
        who = ("-c", f"user.name={person}", "-c", f"user.email={person.lower()}@example.com")
        git(str(folder), "add", "ranges.txt")
        git(str(folder), *who, "commit", "--quiet", "--message", message, date=day.isoformat())
        git(str(folder), "tag", f"v{number}")
        history.append((f"v{number}", message, person, f"{day:%Y-%m-%d}", dict(ranges_m)))
    inside, path = f"In the Git repository {folder.name}:", {"repo_path": folder.name}
    log = ("git_log", path | {"max_count": 20})
    for tag, message, person, date, then in random_source.sample(history, EACH):
        camera = random_source.choice(sorted(then))
        question = f"{inside} who wrote the commit “{message}”?"
        found = rf"Author: (\w+)\nDate: \S+ \S+\nMessage: {message}\n"
        yield Asked("author", question, person, "text", *log, found)
        question = f"{inside} on which date was the commit “{message}” made (YYYY-MM-DD)?"
        yield Asked("date", question, date, "date", *log, rf"Date: (\S+) \S+\nMessage: {message}\n")
        question = f"{inside} which number stands beside {camera} in ranges.txt at the tag {tag}?"
        show = ("git_show", path | {"revision": f"{tag}:ranges.txt"})
        yield Asked("file at a tag", question, then[camera], EXACT, *show, rf"{camera} (\d+)")
        question = f"{inside} what is the message of the commit at the tag {tag}?"
        show = ("git_show", path | {"revision": tag})
        yield Asked("message at a tag", question, message, "text", *show, r"(?:Message: |\n    )([^\n]+)")


def git(folder: str, *arguments: str, date: str = "") -> None:
    """Run git in a folder, without anybody's settings, at a date."""
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **dates}
    subprocess.run(["git", "-C", folder, *arguments], check=True, env=env)  # noqa: S603, S607 our own


if __name__ == "__main__":
    main()
