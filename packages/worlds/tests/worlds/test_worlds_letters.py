"""Letters are those that Pillow draws, to the pixel, wherever a text stands."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gnomon_published.drawn_maps.letters import HALO_PX, font_of, word_of, write

TEXTS = st.text(string.ascii_letters + string.digits + " ,.-", min_size=1, max_size=20).filter(str.strip)
POINTS = st.sampled_from([12, 15, 19])
PAPER, INK, HALO = "#f4f0e6", "#a03c22", "#ffffff"


@pytest.mark.parametrize("halo", [None, HALO])
@given(
    TEXTS,
    POINTS,
    st.tuples(st.floats(0, 300), st.floats(30, 60)),
    st.sampled_from(["la", "lm", "ls", "mm", "ms"]),
)
def test_a_text_is_drawn_as_pillow_draws_it(halo, text, points, at_px, anchor):
    ours, theirs = Image.new("RGB", (320, 90), PAPER), Image.new("RGB", (320, 90), PAPER)
    write(ImageDraw.Draw(ours), at_px, text, points=points, fill=INK, halo=halo, anchor=anchor)
    border = {"stroke_width": HALO_PX, "stroke_fill": halo} if halo else {}
    ImageDraw.Draw(theirs).text(at_px, text, fill=INK, font=font_of(points), anchor=anchor, **border)
    assert ours.tobytes() == theirs.tobytes()


@given(TEXTS, POINTS)
def test_a_words_box_and_width_are_those_of_the_font(text, points):
    word = word_of(text, points)
    assert word.box_px == font_of(points).getbbox(text)
    assert word.width_px == font_of(points).getlength(text)
