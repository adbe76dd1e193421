"""The interval answered for a stay that is not known exactly."""

import itertools
import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.solver.clips.arrivals import Doubts, hedged

SURE = Doubts(start_s=0.0, length=0.0, pause_s=0.0)
seconds = st.floats(0.2, 60.0)


def overlap(one, other):
    shared = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    return shared / (max(one[1], other[1]) - min(one[0], other[0]))


def possible(length_s, doubts):
    """Stays at the middles of nine equal shares of each doubt."""
    shares = [(index + 0.5) / 9 for index in range(9)]
    normal = [NormalDist().inv_cdf(share) for share in shares]
    pauses = [-math.log(1 - share) for share in shares]
    for late, factor, pause in itertools.product(normal, normal, pauses):
        start_s = late * doubts.start_s
        yield start_s, start_s + length_s * math.exp(factor * doubts.length) + pause * doubts.pause_s


@given(seconds, seconds)
def test_what_is_not_in_doubt_is_answered_as_forecast(start_s, length_s):
    assert hedged(start_s, start_s + length_s, SURE) == (start_s, start_s + length_s)


@given(seconds, st.floats(0.5, 3.0), st.floats(0.0, 0.7), st.floats(0.0, 6.0))
def test_hedging_overlaps_no_less_on_average_than_the_forecast(length_s, start_s, length, pause_s):
    doubts = Doubts(start_s=start_s, length=length, pause_s=pause_s)
    stays = list(possible(length_s, doubts))
    answered = hedged(0.0, length_s, doubts)
    mean = [sum(overlap(said, stay) for stay in stays) for said in (answered, (0.0, length_s))]
    assert mean[0] >= 0.98 * mean[1]  # it looks among quantiles of starts and ends only


def test_the_less_sure_the_start_the_longer_the_answer():
    lengths = []
    for start_s in (0.5, 2.0, 4.0):
        begin_s, end_s = hedged(0.0, 3.0, Doubts(start_s=start_s, length=0.0, pause_s=0.0))
        lengths.append(end_s - begin_s)
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_moving_the_forecast_moves_the_answer():
    doubts = Doubts(start_s=1.0, length=0.3, pause_s=2.0)
    here, there = hedged(0.0, 5.0, doubts), hedged(100.0, 105.0, doubts)
    assert there == pytest.approx((100 + here[0], 100 + here[1]))
