"""The parts of the docs that are made from the modules say what the modules say."""

import difflib

import pytest

from scripts.marked_text import with_text_between
from scripts.write_docs import DOCS, PARTS, page_text


@pytest.mark.parametrize("page", PARTS)
def test_a_page_equals_what_the_modules_say(page):
    written, made = (DOCS / page).read_text(encoding="utf-8"), page_text(page)
    changes = difflib.unified_diff(written.splitlines(), made.splitlines(), page, "the modules", lineterm="")
    assert written == made, "run `make docs`:\n" + "\n".join(changes)


def test_text_is_put_between_its_marks_and_the_rest_stays():
    assert with_text_between("a\n<\nold\n>\nb", "<\n", ">\n", "new\n") == "a\n<\nnew\n>\nb"


@pytest.mark.parametrize("page", ["nothing", "<\n", ">\n<\n"])
def test_a_page_without_both_marks_is_refused(page):
    with pytest.raises(ValueError, match="lacks the mark"):
        with_text_between(page, "<\n", ">\n", "new\n")
