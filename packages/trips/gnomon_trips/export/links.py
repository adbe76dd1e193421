"""Makes links that a person can use: a place on a map, its website and its phone."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from gnomon_trips.itinerary.plan import Stop

WEB = re.compile(r"https?://[^\s<>\"']+")
PHONE = re.compile(r"\+?[\d\s()/.-]{5,30}")


class Link(NamedTuple):
    """The words of a link and where it leads."""

    words: str
    href: str


def links_of(stop: Stop, contacts: Mapping[str, str]) -> list[Link]:
    """A stop on OpenStreetMap, its coordinates for any map, and what its source has of website and phone.

    What is no web address or no number is left out.

    >>> stop = Stop(id="x/n1", name="X", lat=60.17, lon=24.94)
    >>> _, *links = links_of(stop, {"website": "x.fi", "phone": "+358 9 123; 456"})
    >>> [link.href for link in links]
    ['geo:60.17,24.94', 'https://x.fi', 'tel:+3589123']
    """
    lat, lon = round(stop.lat, 6), round(stop.lon, 6)
    links = [
        Link("map", f"https://www.openstreetmap.org/?mlat={lat}&mlon={lon}#map=18/{lat}/{lon}"),
        Link(f"{lat}, {lon}", f"geo:{lat},{lon}"),
    ]
    website, phone = (contacts.get(name, "").split(";")[0].strip() for name in ("website", "phone"))
    website = website if not website or "://" in website else f"https://{website}"
    if WEB.fullmatch(website):
        links.append(Link("website", website))
    if PHONE.fullmatch(phone):
        links.append(Link(phone, f"tel:{re.sub(r'[^+0-9]', '', phone)}"))
    return links
