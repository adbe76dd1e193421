"""What a run has told stands between the marks of a page."""

from pathlib import Path

from bench.performance.page import BEGIN, END, Page, is_marked


def test_what_was_told_stands_between_the_marks(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    page = Page()
    page.add("new")
    page.write(document)
    assert document.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert is_marked(document)
    document.write_text("no marks")
    assert not is_marked(document)
