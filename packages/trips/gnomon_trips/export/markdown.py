"""Writes a trip as Markdown: what a page shows, in its order; what comes from outside is escaped."""

from collections.abc import Iterable, Iterator

from gnomon_trips.export.guide_view import guide_lines
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.trip_view import View, trip_view

MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~&"})


def to_markdown(result: TripResult) -> str:
    """The plan for reading, on a terminal too."""
    view = trip_view(result)
    lines = [f"# {_plain(view['title'])}", "", _plain(view["answer"])]
    lines += ["", _plain(" · ".join(view["facts"]))] if view["facts"] else []
    lines += _refusal(view) if view["status"] == "refused" else []
    lines += ["", _plain(view["proof"])] if view["proof"] else []
    lines += _section("What fails", (f"✕ {fault['where']}: {fault['reason']}" for fault in view["faults"]))
    if view["is_part"]:
        lines += ["", "## The best plan for a part of it", "", "It is not what was asked for. Without:"]
        lines += _items(view["left_out"])
    for day in view["days"]:
        lines += ["", f"## {_plain(day['heading'])}", "", f"{_plain(day['summary'])}", "", *_table(day)]
        lines += guide_lines(view["guide"].get(str(day["number"])), _plain)
    if view["status"] != "refused":
        lines += _before(view)
    lines += _section("The steps to it", view["steps"])
    lines += _quality(view)
    if view["sources"]:
        lines += ["", "Data: " + _plain("; ".join(view["sources"]))]
    if view["verified_by"]:
        lines += ["", f"Places, ways and hours as of: {_plain(view['verified_by'])}. Look before you go."]
    return "\n".join(lines).rstrip() + "\n"


def _refusal(view: View) -> list[str]:
    lines = ["", _plain(view["nearest"])] if view["nearest"] else []
    lines += ["", _plain(view["conflict_words"]), *_items(view["conflict"])]
    lines += _items(view["assumptions"])
    lines += ["", _plain(view["tried"])] if view["tried"] else []
    return (
        [*lines, "", "Planned without, for it was not found:", *_items(view["lost"])]
        if view["lost"]
        else lines
    )


def _before(view: View) -> Iterator[str]:
    """What to settle before the trip, each thing once."""
    yield from _section("To book", [*view["bookings"], *filter(None, [view["not_known"]])])
    yield from _section("Left out", view["left_out"])
    points = [
        ". ".join(
            filter(
                None,
                [
                    f"{point['topic']}: {point['reason']}",
                    ", ".join(place["name"] or place["where"] for place in point["places"]),
                ],
            )
        )
        for point in view["unchecked"]
    ]
    points += [f"{point['where']}: {point['reason']}" for point in view["remarks"]]
    yield from _section("Not checked, look yourself", points)
    yield from _section("Assumed", view["assumptions"])


def _quality(view: View) -> list[str]:
    if not view["quality"]:
        return []
    lines = ["", "## Quality", "", "| measure | share | of what |", "|---|---|---|"]
    for row in view["quality"]:
        words = "; ".join(filter(None, (row["counts"], row["unknown"])))
        lines.append(f"| {row['title']} | {row['share']} | {_plain(words)} |")
    missing = view["unmeasured"]
    return [*lines, "", f"Not measured: {_plain('; '.join(missing))}."] if missing else lines


def _section(heading: str, entries: Iterable[str]) -> list[str]:
    items = _items(entries)
    return ["", f"## {heading}", *items] if items else []


def _items(entries: Iterable[str]) -> list[str]:
    items = [f"- {_plain(entry)}" for entry in entries]
    return ["", *items] if items else []


def _table(day: View) -> Iterator[str]:
    """Stops and the ways between them."""
    yield "| time | stop, and the way there |"
    yield "|---|---|"
    for row in day["rows"]:
        if row["kind"] == "leg":
            via = (", " if row["mode"] == "walk" else "; ").join(row["via"])
            text = _plain("; ".join([f"{row['name']}: {via}" if via else row["name"], *row["details"]]))
        else:
            name = f"{row['name']} {row['other_script']}".strip()
            parts = [*row["details"], row["why"].rstrip("."), row["source"]]
            text = f"**{_plain(row['label'])} {_plain(name)}** {_plain(' · '.join(filter(None, parts)))}"
        notes = "".join(f"; {_plain(note)}" for note in row["notes"])
        yield f"| {row['time']} | {text}{notes} |"


def _plain(text: str) -> str:
    r"""Text whose characters mean nothing in Markdown.

    >>> _plain("a|b <i>")
    'a\\|b \\<i\\>'
    """
    return " ".join(text.split()).translate(MARKS)
