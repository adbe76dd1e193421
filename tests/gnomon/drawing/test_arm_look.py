"""How arms look."""

from itertools import pairwise

from gnomon.drawing.arm_look import arm_look


def test_sixteen_arms_look_different():
    looks = {(look.css, look.sign) for look in map(arm_look, range(16))}
    assert len(looks) == 16


def test_neighbours_differ_by_shape_alone():
    signs = [arm_look(place).sign for place in range(64)]
    assert all(left != right for left, right in pairwise(signs))
