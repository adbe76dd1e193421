"""Defines what generated places have beyond plain ones: traffic, walls that hide, clocks that differ."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from gnomon.core.errors import SpecError
from gnomon_worlds.osm_streets import extract_of

Movement = Literal["steady", "simulated"]
Sight = Literal["open", "occluded", "crowded"]
Clocks = Literal["one", "apart"]
Plans = Literal["alike", "several", "escalators"]
Streets = Literal["single", "lanes"]
Journeys = Literal["onward", "returning"]
CHOICES: Mapping[str, tuple[str, ...]] = {
    "movement": ("steady", "simulated"),
    "sight": ("open", "occluded", "crowded"),
    "clocks": ("one", "apart"),
    "buildings": ("alike", "several", "escalators"),
    "streets": ("single", "lanes"),
    "journeys": ("onward", "returning"),
}
MOVING = {  # what takes simulated movement, and why
    ("sight", "crowded"): "as nobody else goes with a target",
    ("streets", "lanes"): "as else nobody overtakes",
    ("journeys", "returning"): "as else everybody goes the shortest way",
}
NETWORK = "network"
_TAG = re.compile(r"with((?:~[a-z]+)*?)(?:~osm~([a-z0-9_]+)~([0-9a-f]{8}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldOptions:
    """What places have beyond plain ones. The first value of each option is that of a plain world.

    movement: targets go evenly and never stop; or there are signals, queues, stops, detours and groups.
    sight: nothing hides a street from a camera; or buildings do; or these and those who go with a target,
    among them vans and crowds, hide it (with simulated movement only).
    clocks: all cameras share one clock; or each is off by a number of seconds that the question tells.
    buildings: all have two or three floors of one plan; or one of several plans, and up to six floors; or
    these, with escalators that run one way.
    streets: vehicles drive in the middle; or in lanes, several on some streets, and overtake (with simulated
    movement only).
    journeys: nobody goes back; or some turn back on their way, or come back from where they went (the same).
    network: towns are drawn; or cut out of the OpenStreetMap extract of that name, whose content's SHA-256
    begins with `digits`.
    """

    movement: Movement = "steady"
    sight: Sight = "open"
    clocks: Clocks = "one"
    buildings: Plans = "alike"
    streets: Streets = "single"
    journeys: Journeys = "onward"
    network: str = ""
    digits: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, Any]) -> "Self | None":
        """Read a job's `select.world`; None: a plain world.

        Raises:
            SpecError: an option or its value has another name.
        """
        named = {}
        for name, value in wanted.items():
            if name == NETWORK:
                named = {NETWORK: value, "digits": extract_of(value)[1]}
                continue
            if name not in CHOICES:
                allowed = ", ".join((*CHOICES, NETWORK))
                raise SpecError(f"no {name!r}; allowed: {allowed}", field="select.world")
            if value not in CHOICES[name]:
                message = f"no {value!r}; allowed: {', '.join(CHOICES[name])}"
                raise SpecError(message, field=f"select.world.{name}")
        options = cls(**{**wanted, **named})
        for (name, value), reason in MOVING.items():
            if getattr(options, name) == value and options.movement != "simulated":
                message = f"{value} takes movement: simulated, {reason}"
                raise SpecError(message, field=f"select.world.{name}")
        return options if options.tag else None

    @classmethod
    def from_tag(cls, tag: str) -> Self:
        """The options that a sample's id names.

        >>> WorldOptions.from_tag("with~simulated~apart").clocks
        'apart'

        Raises:
            ValueError: it names none.
        """
        match = _TAG.fullmatch(tag)
        chosen: dict[str, Any] = {}
        for word in match[1].split("~") if match else ():
            chosen |= {name: word for name, values in CHOICES.items() if word in values[1:]}
        if match and match[2]:
            chosen |= {NETWORK: match[2], "digits": match[3]}
        options = cls(**chosen)
        if not tag or options.tag != tag:
            raise ValueError(tag)
        return options

    @property
    def tag(self) -> str:
        """The part of a sample's id that names the options; empty for a plain world.

        >>> WorldOptions(sight="occluded").tag
        'with~occluded'
        """
        words = [getattr(self, name) for name, values in CHOICES.items() if getattr(self, name) != values[0]]
        if self.network:
            words += ["osm", self.network, self.digits]
        return "~".join(("with", *words)) if words else ""
