"""A request with every name in it resolved, and the provider that resolved them."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tools.itinerary.errors import AmbiguousPlace, NoSuchPlace, PlaceError, Unsupported
from tools.itinerary.place import Answer, LatLon, Place, PlaceHit
from tools.itinerary.provider import NameQuery, NearbyQuery, Provider
from tools.itinerary.request import GraphNode, TripRequest, VideoStop

SURE = 0.9  # below it a name is shown to the traveller as similar, never taken for what was meant
NEAR_VIDEO_M = 150.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """What an agent, a tool and the verifier know of a request.

    `named` maps every name of the request to its place; `lost` names without one to the reason,
    `candidates` ambiguous ones to what they might mean. `unseen` are names from a video that no
    provider knows: left out, with the reason. `told_by` gives the source of each place by its id.
    `country` has two letters, or is empty.
    """

    request: TripRequest
    provider: Provider
    named: Mapping[str, Place] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    candidates: Mapping[str, tuple[PlaceHit, ...]] = field(default_factory=dict)
    unseen: Mapping[str, str] = field(default_factory=dict)
    told_by: Mapping[str, str] = field(default_factory=dict)
    country: str = ""
    answerable: bool | None = None

    @property
    def hotel(self) -> Place | None:
        return self.named.get(self.request.hotel) if self.request.hotel else None

    def source_of(self, place: Place) -> str:
        """Who knows a place, and the state of the data."""
        return self.told_by.get(place.id) or f"{self.provider.name} {self.provider.version}"

    def unjudged(self) -> "Trip":
        """The same without what only a scorer may know: whether there is a plan at all."""
        return replace(self, answerable=None)

    def home(self, day: int, *, at_end: bool) -> Place | None:
        """Where a day starts or ends by the request: its night, the hotel, the end of the trip; else None."""
        request = self.request
        if at_end and day == request.days - 1 and request.ends_at:
            return self.named.get(request.ends_at)
        night = day if at_end else day - 1
        if 0 <= night < len(request.nights) and (name := request.nights[night]):
            return self.named.get(name)
        return self.hotel

    def places(self) -> list[Place]:
        """The places that must be visited, in the order of the request."""
        return [self.named[name] for name in self.request.places if name in self.named]


async def open_trip(request: TripRequest, provider: Provider, *, answerable: bool | None = None) -> Trip:
    """Find every name of a request; what cannot be found is kept with its reason, never guessed.

    A visiting-order graph and the stops of a video become places and orders of the request first.

    Raises:
        PlaceError: the provider failed for a reason that is not the name's fault.
    """
    request, parents = _with_graph(request)
    request, answers, unseen = await _with_video(request, provider)
    lost: dict[str, str] = {}
    candidates: dict[str, tuple[PlaceHit, ...]] = {}
    for name in _names(request):
        if name in answers:
            continue
        bias = next((answer.value.at for answer in answers.values()), None)
        try:
            answers[name] = await find(provider, name, within=parents.get(name), bias=bias)
        except AmbiguousPlace as error:
            lost[name], candidates[name] = str(error), error.candidates
        except NoSuchPlace as error:
            lost[name] = str(error)
    if not (request.places or request.wishes):
        lost, unseen = {**lost, **unseen}, {}
    return Trip(
        request=request,
        provider=provider,
        named={name: answer.value for name, answer in answers.items()},
        lost=lost,
        candidates=candidates,
        unseen=unseen,
        told_by={answer.value.id: answer.told_by for answer in answers.values()},
        country=await _country(provider, next((answer.value.at for answer in answers.values()), None)),
        answerable=answerable,
    )


async def find(
    provider: Provider, name: str, *, within: str | None = None, bias: LatLon | None = None
) -> Answer[Place]:
    """The one place that a name or an id means.

    Raises:
        NoSuchPlace: no hit is sure enough.
        AmbiguousPlace: several hits are equally good; the error holds them.
    """
    if " " not in name and {"/", ":"} & set(name):  # it looks like an id
        try:
            return await provider.details(name)
        except NoSuchPlace:
            pass
    answer = await provider.resolve(NameQuery(name, within=within, bias=bias, limit=6))
    hits = answer.value
    sure = [hit for hit in hits if hit.score >= SURE]
    if not sure:
        near = ", ".join(repr(hit.place.name) for hit in hits[:3])
        raise NoSuchPlace(f"nothing is called {name!r}" + (f"; similar: {near}" if near else ""))
    best = [hit for hit in sure if hit.score == sure[0].score]
    if len(best) > 1:
        named = ", ".join(f"{hit.place.id} ({hit.place.kind})" for hit in best)
        raise AmbiguousPlace(f"{name!r} may be any of {named}; give the id", best)
    return answer.of(sure[0].place)


def _names(request: TripRequest) -> list[str]:
    names = [request.hotel, request.ends_at, *request.nights, *request.places, *request.avoid]
    names += [name for pair in request.order for name in pair]
    return list(dict.fromkeys(name for name in names if name))


def _with_graph(request: TripRequest) -> tuple[TripRequest, dict[str, str]]:
    """The request with its graph's places and transitions spelled out; parents by place name."""
    if request.graph is None:
        return request, {}
    nodes: dict[str, GraphNode] = {node.id: node for node in request.graph.nodes}
    points = [node for node in nodes.values() if node.kind == "poi"]
    # A second visit is a node of its own; a plan needs the place once.
    places = tuple(dict.fromkeys([*request.places, *(node.name for node in points)]))
    pairs = [
        (nodes[start].name, nodes[end].name)
        for start, end in request.graph.transitions
        if nodes[start].kind == nodes[end].kind == "poi"
    ]
    first_index = {name: index for index, name in reversed(list(enumerate(places)))}
    order = [
        pair for pair in pairs if pair[0] != pair[1] and pair[::-1] not in pairs and pair[0] in first_index
    ]
    parents = {node.name: nodes[node.parent].name for node in points if node.parent}
    changed = {"places": list(places), "order": list(dict.fromkeys([*request.order, *order])), "graph": None}
    return request.model_copy(update=changed), parents


VideoAnswers = tuple[TripRequest, dict[str, Answer[Place]], dict[str, str]]


async def _with_video(request: TripRequest, provider: Provider) -> VideoAnswers:
    """The request with the stops of a video as places, in the order in which they appear in it.

    The traveller did not name them, so what nobody knows is left out with its reason.
    """
    answers: dict[str, Answer[Place]] = {}
    unseen: dict[str, str] = {}
    for number, stop in enumerate(sorted(request.video, key=lambda video_stop: video_stop.from_s)):
        name = stop.name or f"video stop {number + 1}"
        if name in answers:
            continue
        try:
            answers[name] = await _seen_at(stop, provider)
            unseen.pop(name, None)
        except (AmbiguousPlace, NoSuchPlace, Unsupported) as error:
            unseen[name] = str(error)
    names = list(answers)
    places = list(dict.fromkeys([*request.places, *names]))
    order = list(dict.fromkeys([*request.order, *itertools.pairwise(names)]))
    changed = {"places": places, "order": order, "video": []}
    return (request.model_copy(update=changed) if request.video else request), answers, unseen


async def _seen_at(stop: VideoStop, provider: Provider) -> Answer[Place]:
    """The place of a stop; where the picture's position is known, it tells places of one name apart."""
    if stop.lat is None or stop.lon is None:
        return await find(provider, stop.name or "")
    at = LatLon(lat_deg=stop.lat, lon_deg=stop.lon)
    if stop.name is None:
        near = await provider.nearby(NearbyQuery(at, NEAR_VIDEO_M, limit=1))
        if not near.value:
            raise NoSuchPlace(f"nothing within {NEAR_VIDEO_M:.0f} m of {stop.lat:.5f}, {stop.lon:.5f}")
        return near.of(near.value[0].place)
    try:
        return await find(provider, stop.name, bias=at)
    except AmbiguousPlace as error:
        nearest = min(error.candidates, key=lambda hit: hit.distance_m or 0.0).place
        return await provider.details(nearest.id)


async def _country(provider: Provider, at: LatLon | None) -> str:
    if at is None:
        return ""
    try:
        return (await provider.reverse(at)).value.country
    except PlaceError:
        return ""
