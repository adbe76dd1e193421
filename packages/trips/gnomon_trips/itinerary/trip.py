"""A request with every name in it resolved, and the provider that resolved them."""

import itertools
import statistics
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from gnomon_tools.core.inputs import BlindInput, OtherCall
from gnomon_trips.itinerary.choice import Choice, called, choose, is_article, meeting_point, readings, rivals
from gnomon_trips.itinerary.errors import AmbiguousPlace, BadArgument, NoSuchPlace, PlaceError, Unsupported
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import Interval
from gnomon_trips.itinerary.kinds import is_kind_word
from gnomon_trips.itinerary.later_visits import details_of, later_visit, later_visits, with_visits_named
from gnomon_trips.itinerary.place import Answer, LatLon, Place, PlaceHit
from gnomon_trips.itinerary.plan import Origin
from gnomon_trips.itinerary.provider import MAX_HITS, WORLD, NameQuery, NearbyQuery, Provider
from gnomon_trips.itinerary.request import GraphNode, TripRequest

MOST_CANDIDATES = 6
NEAR_VIDEO_M = 150.0
FAR_KM = 1500.0  # more than a day on the ground from the rest of the trip: another place was meant
NO_HITS: Answer[tuple[PlaceHit, ...]] = Answer(
    value=(), provider="", version="", attribution="", retrieved_at="", exactness="exact"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip(BlindInput):
    """What an agent, a tool and the verifier know of a request.

    `named` maps every name of the request to its place; `lost` names without one to the reason: the request
    is kept without them as long as anything is left of it, and `asked` with them. `candidates` maps ambiguous
    names to what they might mean, `assumed` those decided between several places to what they were taken for
    and why. `unseen` are names from a video that no provider knows: left out, with the reason. A name to
    avoid is never lost: it bars all that it may mean. `told_by` gives the source of each place by its id.
    `cut` are places that were left out because the request has room for fewer, with the reason.
    `origins` says of each place of the request, by its id, who thought of it.
    `country` has two letters, or is empty.
    """

    heading: ClassVar[str] = "On a trip"
    in_words: ClassVar[str] = "a trip: a request with its places and ways"
    is_told_later: ClassVar[bool] = True
    is_of_any_cell: ClassVar[bool] = True  # whether a trip can be planned at all is a task of its own

    request: TripRequest
    provider: Provider
    asked: TripRequest | None = None
    named: Mapping[str, Place] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    candidates: Mapping[str, tuple[PlaceHit, ...]] = field(default_factory=dict)
    assumed: Mapping[str, str] = field(default_factory=dict)
    unseen: Mapping[str, str] = field(default_factory=dict)
    told_by: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    cut: Mapping[str, str] = field(default_factory=dict)
    country: str = ""
    answerable: bool | None = None

    def may_be_replaced_by(self, other: "Trip") -> bool:
        """Whether the other request is another one, of the same data and by the same means."""
        return self.request != other.request and (self.provider.name, self.request.mode) == (
            other.provider.name,
            other.request.mode,
        )

    def is_like(self, other: "Trip") -> bool:
        """Whether the other one has as many places, and as many days from the same day of the week on."""
        from gnomon_trips.itinerary.stand_in_trip import is_like  # late: few samples have one

        return is_like(self, other)

    def stand_in(self, other: "Trip | None", *, seed: int) -> "Trip":
        """The trip that answers under a blind placebo."""
        from gnomon_trips.itinerary.stand_in_trip import stand_in_trip  # late, as above

        return stand_in_trip(self, other, seed)

    def other_plan(self, *, key: str, call: OtherCall) -> object:
        """A plan for tools that judge plans: half of them hold."""
        from gnomon_trips.itinerary.stand_in_trip import other_plan  # late, as above

        return other_plan(self, key, call)

    @property
    def hotel(self) -> Place | None:
        return self.named.get(self.request.hotel) if self.request.hotel else None

    def source_of(self, place: Place) -> str:
        return self.told_by.get(place.id) or f"{self.provider.name} {self.provider.version}"

    @property
    def left_out(self) -> Mapping[str, str]:
        """The names that are planned without, with the reason; empty where nothing is left to plan."""
        is_kept = _asks_for_something(self.request, self.lost)
        return {**self.unseen, **self.lost, **self.cut} if is_kept else {}

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

    def fixed_hours(self, place: Place, day: int) -> tuple[Interval, ...] | None:
        """When a place that has a set time may be visited on a day, counted from 0; None: it has none."""
        for fixed in self.request.fixed:
            if fixed.place in self.named and self.named[fixed.place].id == place.id:
                start = self.request.minute_of(fixed.start, day)
                is_day = fixed.day in (None, day + 1)
                return ((start, start + self.request.rules.stay_min(place.kind)),) if is_day else ()
        return None

    @property
    def must_see(self) -> frozenset[str]:
        """The ids of the places that are given up last."""
        named = (self.named.get(name) for name in self.request.preferences.must_see)
        return frozenset(place.id for place in named if place is not None)

    def is_asked_for(self, place: Place) -> bool:
        """Whether the traveller named it; else it was seen in a film."""
        return any(origin.basis == "asked" for origin in self.origins.get(place.id, ()))

    def places(self) -> list[Place]:
        """The places that must be visited, in the order of the request."""
        return [self.named[name] for name in self.request.places if name in self.named]


async def open_trip(request: TripRequest, provider: Provider) -> Trip:
    """Find every name of a request; what cannot be found is kept with its reason, never guessed.

    A visiting-order graph and the stops of a video become places and orders of the request first. A name that
    several places share is decided by where the others are.

    Raises:
        BadArgument: a place that must be seen is none of the places to visit.
        PlaceError: the provider failed for a reason that is not the name's fault.
    """
    request = with_visits_named(request)
    named_by_traveller, seen_at, visits = list(request.places), _seen_at_s(request), later_visits(request)
    request, parents = _with_graph(request)
    answers, unseen, seen = await _placed_in_video(request, provider)
    asked = [name for name in _names(request) if name not in visits]
    names = [name for name in dict.fromkeys([*asked, *seen]) if name not in answers and name not in unseen]
    searches = {name: await _search(provider, name, within=parents.get(name)) for name in names}
    assumed: dict[str, str] = {}
    for name, search in searches.items():
        choice = search.choose()
        if choice is not None and not choice.told:
            answers[name] = search.hits.of(choice.hit.place)
    unsure = {name: search for name, search in searches.items() if name not in answers}
    middle = _middle(answers) or meeting_point([search.hits.value for search in unsure.values()])
    for is_last in (False, True):  # at last each by all the others, also by those after it
        for name, search in unsure.items():
            for told in (answers, assumed):
                told.pop(name, None)
            choice = search.choose(_middle(answers) if is_last else middle)
            if choice is not None:
                answers[name], assumed[name] = search.hits.of(choice.hit.place), choice.told
    far = _far_away(answers, names) if request.area.lower() != WORLD else {}
    answers = {name: answer for name, answer in answers.items() if name not in far}
    open_names = {name: search for name, search in searches.items() if name not in {*answers, *far}}
    lost = far | {
        name: search.reason or str(search.ambiguity(_middle(answers))) for name, search in open_names.items()
    }
    candidates = {
        name: search.ambiguity(_middle(answers)).candidates
        for name, search in open_names.items()
        if not search.reason
    }
    for visit, (name, number) in visits.items():
        if name in answers:
            answers[visit] = answers[name].of(later_visit(answers[name].value, number))
        else:
            lost[visit] = lost[name]
    assumed |= _kept_away_from(request, lost, candidates)
    for name in set(seen) - set(asked):  # the traveller did not name it
        if name in lost:
            unseen[name] = lost.pop(name)
            candidates.pop(name, None)
    first_seen = {name: origin.words for name, origin in reversed(seen_at)}
    unseen = {name: f"{reason} ({first_seen[name]})" for name, reason in unseen.items()}
    request, against = _with_seen(request, [name for name in seen if name in answers], answers)
    assumed |= against
    _check_must_see(request, answers)
    if not (request.places or request.wishes):
        lost, unseen = {**lost, **unseen}, {}
    return Trip(
        request=_without(request, lost),
        provider=provider,
        asked=request if lost else None,
        named={name: answer.value for name, answer in answers.items()},
        lost=lost,
        candidates=candidates,
        assumed=assumed,
        unseen=unseen,
        told_by={answer.value.id: answer.told_by for answer in answers.values()},
        origins=_origins(answers, named_by_traveller, seen_at),
        country=await _country(provider, next((answer.value.at for answer in answers.values()), None)),
    )


def _kept_away_from(request: TripRequest, lost: dict[str, str], candidates: Container[str]) -> dict[str, str]:
    """What is told of names to avoid that mean several places or none; they are lost no longer."""
    avoided = set(request.avoid) - set(_names(request.model_copy(update={"avoid": []})))
    return {
        name: f"{name!r} is the name of {'several places' if name in candidates else 'no place here'}:"
        " none that is called so is visited."
        for name in avoided
        if lost.pop(name, "")
    }


def _check_must_see(request: TripRequest, answers: Mapping[str, Answer[Place]]) -> None:
    """Refuse a place that must be seen and is none of those to visit, whatever name it goes by."""
    asked = {answers[name].value.id for name in request.places if name in answers}
    for name in request.preferences.must_see:
        answer = answers.get(name)
        if name not in request.places and (answer is None or answer.value.id not in asked):
            raise BadArgument(f"preferences.must_see: {name!r} is none of the places of the request")


def _asks_for_something(request: TripRequest, lost: Container[str]) -> bool:
    return bool(request.wishes) or any(name not in lost for name in request.places)


def _without(request: TripRequest, lost: Collection[str]) -> TripRequest:
    """The request without names that mean no place; as it is where nothing would be left of it."""
    if not lost or not _asks_for_something(request, lost):
        return request
    changed = {
        "places": [name for name in request.places if name not in lost],
        "order": [pair for pair in request.order if not set(pair) & set(lost)],
        "hotel": None if request.hotel in lost else request.hotel,
        "ends_at": None if request.ends_at in lost else request.ends_at,
        "nights": [None if name in lost else name for name in request.nights],
        "fixed": [fixed for fixed in request.fixed if fixed.place not in lost],
    }
    return request.model_copy(update=changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What a name may mean; `reason` says why it means nothing, and is empty where it means something.

    `read_as` is what the name was read as, where it means nothing as it stands.
    """

    name: str
    hits: Answer[tuple[PlaceHit, ...]]
    reason: str = ""
    read_as: str = ""

    def choose(self, bias: LatLon | None = None) -> Choice | None:
        choice = None if self.reason else choose(self.read_as or self.name, self.hits.value, bias)
        if choice is None or not self.read_as or is_article(self.name, self.read_as):
            return choice
        told = f"{self.name!r} was read as {self.read_as!r} and taken for {called(choice.hit)}"
        return Choice(choice.hit, told)

    def ambiguity(self, bias: LatLon | None) -> AmbiguousPlace:
        best = rivals(self.hits.value, bias)[:MOST_CANDIDATES]
        if not best:
            far = "; ".join(called(hit) for hit in self.hits.value[:MOST_CANDIDATES])
            return AmbiguousPlace(f"nothing near is called {self.name!r}; similar, and far: {far}")
        named = "; ".join(f"{hit.place.id} = {called(hit)}" for hit in best)
        return AmbiguousPlace(f"{self.name!r} may be any of {named}; give the id", best)


async def _search(
    provider: Provider, name: str, *, within: str | None = None, bias: LatLon | None = None
) -> _Search:
    """Look a name or an id up.

    Raises:
        PlaceError: the provider failed for a reason that is not the name's fault.
    """
    if " " not in name and {"/", ":"} & set(name):  # it looks like an id
        try:
            answer = await details_of(provider, name)
            return _Search(name=name, hits=answer.of((PlaceHit(place=answer.value),)))
        except NoSuchPlace:
            pass
    search = await _looked_up(provider, NameQuery(name, within=within, bias=bias, limit=MAX_HITS))
    if not search.reason:
        return search
    for reading in readings(name):
        other = await _looked_up(provider, NameQuery(reading, within=within, bias=bias, limit=MAX_HITS))
        if not other.reason:
            return replace(other, name=name, read_as=reading)
    return search


async def _looked_up(provider: Provider, query: NameQuery) -> _Search:
    name = query.name
    try:
        hits = await provider.resolve(query)
    except (NoSuchPlace, AmbiguousPlace, BadArgument) as error:  # ambiguous: the area; bad: a name of marks
        return _Search(name=name, hits=NO_HITS, reason=f"nothing is called {name!r}: {error}")
    if rivals(hits.value, query.bias):
        return _Search(name=name, hits=hits)
    similar = "; ".join(dict.fromkeys(called(hit) for hit in hits.value[:3]))
    reason = f"nothing is called {name!r}" + (f"; similar: {similar}" if similar else "")
    return _Search(name=name, hits=hits, reason=reason)


def _middle(answers: Mapping[str, Answer[Place]]) -> LatLon | None:
    """Where most of the trip is: the median of the places known so far."""
    if not answers:
        return None
    points = [answer.value.at for answer in answers.values()]
    return LatLon(
        lat_deg=statistics.median(at.lat_deg for at in points),
        lon_deg=statistics.median(at.lon_deg for at in points),
    )


def _far_away(answers: Mapping[str, Answer[Place]], names: Iterable[str]) -> dict[str, str]:
    """Why names are left out that only the world's list of cities knows, more than a day away."""
    far: dict[str, str] = {}
    for name in names:
        rest = _middle({other: answer for other, answer in answers.items() if other != name})
        if name not in answers or rest is None or answers[name].provider != WORLD:
            continue
        place = answers[name].value
        far_km = apart_m(rest, place.at) / 1000
        if far_km > FAR_KM:
            where = f"{called(PlaceHit(place=place))}, {far_km:,.0f} km from the other places"
            far[name] = f"nothing near is called {name!r}; the world knows {where}"
    return far


async def find(
    provider: Provider, name: str, *, within: str | None = None, bias: LatLon | None = None
) -> Answer[Place]:
    """The one place that a name or an id means; `bias` is where the rest of the trip is.

    Raises:
        NoSuchPlace: no hit is sure enough.
        AmbiguousPlace: several hits are about equally likely; the error holds them.
    """
    search = await _search(provider, name, within=within, bias=bias)
    if search.reason:
        raise NoSuchPlace(search.reason)
    choice = search.choose(bias)
    if choice is None:
        raise search.ambiguity(bias)
    return search.hits.of(choice.hit.place)


def _names(request: TripRequest) -> list[str]:
    avoid = [name for name in request.avoid if not is_kind_word(name)]
    names = [request.hotel, request.ends_at, *request.nights, *request.places, *avoid]
    names += [name for pair in request.order for name in pair] + request.preferences.must_see
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


VideoAnswers = tuple[dict[str, Answer[Place]], dict[str, str], list[str]]


async def _placed_in_video(request: TripRequest, provider: Provider) -> VideoAnswers:
    """The places of a video whose position is known, those where nothing is, and all names as they appear."""
    answers: dict[str, Answer[Place]] = {}
    unseen: dict[str, str] = {}
    seen: list[str] = []
    for number, stop in enumerate(sorted(request.video, key=lambda video_stop: video_stop.from_s)):
        name = stop.name or f"video stop {number + 1}"
        seen.append(name)
        if name in answers or stop.lat is None or stop.lon is None:
            continue
        try:
            answers[name] = await _seen_at(stop.name, LatLon(lat_deg=stop.lat, lon_deg=stop.lon), provider)
            unseen.pop(name, None)
        except (AmbiguousPlace, NoSuchPlace, Unsupported) as error:
            unseen[name] = str(error)
    return answers, unseen, list(dict.fromkeys(seen))


def _with_seen(
    request: TripRequest, seen: Sequence[str], answers: Mapping[str, Answer[Place]]
) -> tuple[TripRequest, dict[str, str]]:
    """The request with the places found in a video, in the order in which they appear in it; a place that
    has a name already keeps it. An order that contradicts one that was asked for is dropped, and told.
    """
    if not request.video:
        return request, {}
    by_id = {answers[name].value.id: name for name in reversed(request.places) if name in answers}
    names = list(dict.fromkeys(by_id.setdefault(answers[name].value.id, name) for name in seen))
    order, dropped = list(request.order), dict[str, str]()
    for first, then in itertools.pairwise(names):
        if _leads(order, then, first):
            dropped[f"{first}>{then}"] = (
                f"The video shows {first} before {then}; what was asked for has them the other way round"
            )
        elif (first, then) not in order:
            order.append((first, then))
    places = list(dict.fromkeys([*request.places, *names]))
    return request.model_copy(update={"places": places, "order": order, "video": []}), dropped


def _leads(order: Iterable[tuple[str, str]], start: str, end: str) -> bool:
    """Whether pairs of before and after lead from one name to the other."""
    pairs, reached, waiting = list(order), {start}, [start]
    while waiting:
        at = waiting.pop()
        following = [then for first, then in pairs if first == at and then not in reached]
        reached.update(following)
        waiting += following
    return end in reached


def _seen_at_s(request: TripRequest) -> list[tuple[str, Origin]]:
    """When each place of the graph and the video is seen, by the name that it has there."""
    nodes = request.graph.nodes if request.graph else []
    seen = [
        (node.name, Origin(basis="seen", from_s=node.from_s, to_s=node.to_s))
        for node in nodes
        if node.kind == "poi" and node.from_s is not None
    ]
    stops = sorted(request.video, key=lambda stop: stop.from_s)
    for number, stop in enumerate(stops):
        origin = Origin(basis="seen", from_s=stop.from_s, to_s=stop.to_s)
        seen.append((stop.name or f"video stop {number + 1}", origin))
    return seen


def _origins(
    answers: Mapping[str, Answer[Place]], asked: Iterable[str], seen: Iterable[tuple[str, Origin]]
) -> dict[str, tuple[Origin, ...]]:
    """Who thought of each place, by its id: the traveller first, then each time it is seen."""
    rows = [*((name, Origin(basis="asked")) for name in asked), *seen]
    origins: dict[str, list[Origin]] = {}
    for name, origin in rows:
        if name in answers:
            row = origins.setdefault(answers[name].value.id, [])
            if origin not in row:
                row.append(origin)
    return {place_id: tuple(row) for place_id, row in origins.items()}


async def _seen_at(name: str | None, at: LatLon, provider: Provider) -> Answer[Place]:
    """The place at a position of a video, which tells places of one name apart."""
    if name is None:
        near = await provider.nearby(NearbyQuery(at, NEAR_VIDEO_M, limit=1))
        if not near.value:
            raise NoSuchPlace(f"nothing within {NEAR_VIDEO_M:.0f} m of {at.lat_deg:.5f}, {at.lon_deg:.5f}")
        return near.of(near.value[0].place)
    try:
        return await find(provider, name, bias=at)
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
