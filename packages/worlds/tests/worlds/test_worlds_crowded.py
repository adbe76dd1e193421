"""What those who go with a target hide of it: truth and pictures agree."""

from dataclasses import replace
from functools import cache
from random import Random

import pytest
from shapely import box

from gnomon.core.errors import SpecError
from gnomon_worlds import trajectory
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.hiding import SEEN, free_share, is_seen, outline, seen_spans
from gnomon_worlds.movement import PEDESTRIAN, VAN, VEHICLE, Companion, Journey, Stretch
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.rendering.clip import TARGET, Clip, Style
from gnomon_worlds.sample_making import draw, world_of
from gnomon_worlds.sample_numbers import CELLS, Number
from gnomon_worlds.trajectory import Lookout, Trip, lookout_of

SEED = 3
CROWDED = WorldOptions(sight="crowded", movement="simulated")
EYE = Mount(xy_m=(0.0, 0.0), height_m=3.0, heading_deg=0.0, fov_deg=50.0, range_m=60.0)


def drive(body, start_m, end_m, company=()):
    """Along the street ahead of EYE, from second 0 to 10."""
    stretch = Stretch(floor=0, points_m=((0.0, start_m), (0.0, end_m)), times_s=(0.0, 10.0))
    return Journey(body=body, stretches=(stretch,), company=company)


def test_a_van_close_before_a_car_hides_it_and_a_car_does_not():
    car = (VEHICLE, ((0.0, 40.0), 0.0))
    assert free_share(EYE, car, []) == 1.0
    assert free_share(EYE, car, [(VAN, ((0.0, 33.0), 0.0))]) < SEEN
    assert free_share(EYE, car, [(VEHICLE, ((0.0, 33.0), 0.0))]) > SEEN
    assert free_share(EYE, car, [(VAN, ((6.0, 33.0), 0.0))]) == 1.0


def test_two_who_stand_side_by_side_hide_more_than_one():
    walker = (PEDESTRIAN, ((0.0, 9.0), 0.0))
    low = replace(EYE, height_m=2.0)
    one = free_share(low, walker, [(PEDESTRIAN, ((-0.1, 7.5), 0.0))])
    both = free_share(low, walker, [(PEDESTRIAN, ((-0.1, 7.5), 0.0)), (PEDESTRIAN, ((0.12, 7.3), 0.0))])
    assert both < one < 1.0


def test_an_outline_holds_the_published_box_of_a_body_that_goes_across():
    x_m, y_m = 3.0, 30.0
    hull = outline(EYE, PEDESTRIAN, ((x_m, y_m), 90.0))
    foot, head = EYE.pixel((x_m, y_m))[:2], EYE.pixel((x_m, y_m), PEDESTRIAN.height_m)[:2]
    assert hull.buffer(1.0).covers(box(foot[0] - 1, head[1], foot[0] + 1, foot[1]))


def test_a_stay_is_cut_where_the_target_is_hidden_to_a_millisecond():
    van = Companion(journey=drive(VAN, 9.0, 45.0))
    target = drive(VEHICLE, 55.0, 55.0 - 1e-6, (van,))  # the van comes nearer and nearer before it
    spans = list(seen_spans(EYE, 0, target, 0.0, 10.0))
    assert len(spans) == 1
    start_s, end_s = spans[0]
    assert start_s == 0.0
    assert 0.5 < end_s < 9.5
    assert is_seen(EYE, 0, target, end_s - 0.005)
    assert not is_seen(EYE, 0, target, end_s + 0.005)


def test_who_goes_alone_is_seen_all_the_time():
    assert list(seen_spans(EYE, 0, drive(VEHICLE, 50.0, 20.0), 1.0, 9.0)) == [(1.0, 9.0)]


@cache
def hidden_stays(scene):
    """(world, journey, whole stay, spans in which it is seen) of targets that are hidden for a while."""
    stays = []
    for round_ in range(1):
        world = world_of(SEED, scene, round_, options=CROWDED)
        views, close = Lookout(world.scene.cameras.values()), lookout_of(world)
        for drawn in trajectory._departures(world, Random(round_), 160):
            seen = close.sightings(drawn.journey)
            for stay in views.sightings(drawn.journey):
                spans = [
                    (each.start_s, each.end_s)
                    for each in seen
                    if each.camera == stay.camera
                    and stay.start_s <= each.start_s
                    and each.end_s <= stay.end_s
                ]
                if sum(end_s - start_s for start_s, end_s in spans) < stay.stay_s - 0.4 and stay.stay_s > 1.0:
                    stays.append((world, drawn.journey, stay, spans))
    return stays


@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
def test_a_target_that_is_hidden_in_truth_has_hardly_a_pixel_in_the_picture(scene):
    free = []
    for world, journey, stay, spans in hidden_stays(scene)[:4]:
        trip = Trip(target=1, journey=journey, sightings=(stay,))
        clip = Clip(
            world=world, trip=trip, sighting=stay, trips=(trip,), is_timeless=False, seed=0,
            style=Style(size_px=(480, 270)),
        )  # fmt: skip
        hidden = [
            frame
            for frame, time_s in enumerate(clip.times_s)
            if not any(start_s - 0.1 < time_s < end_s + 0.1 for start_s, end_s in spans)
        ]
        frame = hidden[len(hidden) // 2]
        alone = (clip.canvas(frame, is_target_alone=True).owner == TARGET).sum()
        free.append((clip.canvas(frame).owner == TARGET).sum() / alone)
    assert len(free) >= 2
    assert max(free) < SEEN + 0.1
    assert sum(free) / len(free) < 0.2


def walk(start_m, end_m):
    """Along the far kerb of the street ahead of EYE, from second 0 to 10."""
    stretch = Stretch(floor=0, points_m=((1.0, start_m), (1.0, end_m)), times_s=(0.0, 10.0))
    return Journey(body=PEDESTRIAN, stretches=(stretch,))


def test_targets_of_one_question_hide_one_another(monkeypatch):
    world = world_of(SEED, "outdoor", 0, options=CROWDED)
    camera = replace(next(iter(world.scene.cameras.values())), id="c", field_of_view=box(-5, 20, 5, 58))
    lookout = Lookout([camera], {"c": EYE})
    monkeypatch.setattr(trajectory, "lookout_of", lambda _: lookout)
    monkeypatch.setattr(trajectory, "fit", lambda made, in_view: True)
    walker, van = (
        Trip(target=number, journey=journey, sightings=lookout.sightings(journey))
        for number, journey in enumerate((walk(42.0, 44.0), drive(VAN, 60.0, 24.0)))
    )
    assert [seen.stay_s for seen in walker.sightings] == [pytest.approx(10.0)]
    beside_van, beside_walker = trajectory.beside_one_another(world, walker, van)
    assert [(seen.start_s, 3.0 < seen.end_s < 7.0) for seen in beside_van.sightings] == [(0.0, True)]
    assert beside_van.journey is walker.journey
    assert beside_walker == van  # a walker hides no van
    gone = replace(van, journey=van.journey.later(50.0), sightings=lookout.sightings(van.journey.later(50.0)))
    assert trajectory.beside_one_another(world, walker, gone) == (walker, gone)


@pytest.mark.parametrize("rounds", [1, pytest.param(3, marks=pytest.mark.soak)])
def test_where_two_meet_both_are_seen_beside_one_another(rounds):
    met = 0
    for scene in ("outdoor", "indoor"):
        cell = CELLS.index((scene, "MultiTargetTrajectoryForecasting"))
        for round_ in range(rounds):
            drawn = draw(Number(SEED, round_ * len(CELLS) + cell, options=CROWDED), place=0)
            (first, *_), (second, *_) = drawn.question.gaps
            place, mounts = drawn.question.right[0], drawn.world.installation.mounts
            floor = drawn.world.scene.cameras[place].floor
            start_s, end_s = drawn.question.times_s[0]
            for own, other in ((first.journey, second.journey), (second.journey, first.journey)):
                company = (*own.company, Companion(journey=other), *other.company)
                for share in (0.02, 0.3, 0.5, 0.7, 0.98):
                    time_s = start_s + share * (end_s - start_s)
                    assert is_seen(mounts[place], floor, replace(own, company=company), time_s)
            met += 1
    assert met == 2 * rounds


def test_questions_of_crowded_worlds_are_drawn_and_their_ids_say_so():
    for k in range(6):
        number = Number(SEED, k, options=CROWDED)
        assert number.sample_id.startswith("w3-with~simulated~crowded-")
        assert draw(number).world.is_crowded


def test_crowded_takes_simulated_movement():
    with pytest.raises(SpecError) as caught:
        WorldOptions.of({"sight": "crowded"})
    assert caught.value.field == "select.world.sight"
    assert WorldOptions.from_tag("with~simulated~crowded") == CROWDED
