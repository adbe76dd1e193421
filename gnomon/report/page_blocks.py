"""Reads a report's page, which is our own, as headings, sentences, items of lists and tables."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### "}
TEXTS = {*HEADINGS, "p", "li", "dt", "dd", "pre"}
FACTS = {"dt", "dd"}  # texts that are taken out of folds too
VOID = {"br", "col", "hr", "img", "input", "wbr"}
PICTURES = {"figure", "svg"}
LEFT_OUT = {"eyebrow", "legend", "traces", "square"}  # classes: of pictures, of steps, counts said elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What one element says."""

    element: str
    text: str


@dataclass(slots=True, kw_only=True)
class PageTable:
    """A table as the page shows it; its first `texts` columns are of text."""

    caption: str
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    texts: int = 0


class PageReader(HTMLParser):
    """Collects `blocks`, without pictures, what screen readers skip, and folded texts that are no facts."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[PageText | PageTable] = []
        self._open: list[tuple[str, str, bool]] = []  # element, its label, whether it is left out
        self._text: list[str] | None = None  # of the open element
        self._table = PageTable(caption="")  # the last one begun
        self._cells: list[list[str]] | None = None  # of the open row

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        classes = attributes.get("class", "").split()
        if tag in VOID:
            self.handle_data(" ")
            return
        is_said_beside = "badge" in classes and self._cells is None  # a verdict, which the next sentence says
        is_hidden = tag in PICTURES or attributes.get("aria-hidden") == "true" or is_said_beside
        self._open.append(
            (tag, attributes.get("aria-label", ""), is_hidden or not LEFT_OUT.isdisjoint(classes))
        )
        if self._is_left_out:
            return
        if tag == "table":
            label = next((label for _, label, _ in reversed(self._open) if label), "")
            self._table = PageTable(caption=label.removesuffix(": table"))
        elif tag == "tr":
            self._cells = []
        elif tag in ("td", "th") and self._cells is not None:
            if not self._table.head and "n" not in classes and self._table.texts == len(self._cells):
                self._table.texts += 1
            self._cells.append([])
            self._cells += [[] for _ in range(int(attributes.get("colspan") or 1) - 1)]
        elif tag in (FACTS if self._is_folded else TEXTS):
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        is_left_out = self._is_left_out
        while self._open and self._open.pop()[0] != tag:
            pass
        if is_left_out:
            return
        if tag == "tr" and self._cells is not None:
            row = [_on_one_line(texts) for texts in self._cells]
            self._cells, table = None, self._table
            if not table.head:
                table.head = row
            else:
                table.rows.append([*row, *[""] * (len(table.head) - len(row))][: len(table.head)])
        elif tag == "table" and self._table.rows:
            self.blocks.append(self._table)
        elif tag in TEXTS and self._text is not None:
            text = "".join(self._text).strip() if tag == "pre" else _on_one_line(self._text)
            self._text = None
            if text:
                self.blocks.append(PageText(element=tag, text=text))

    def handle_data(self, data: str) -> None:
        if self._is_left_out:
            return
        if self._cells:
            self._cells[-1].append(data)
        elif self._text is not None:
            self._text.append(data)

    @property
    def _is_left_out(self) -> bool:
        return any(is_left_out for _, _, is_left_out in self._open)

    @property
    def _is_folded(self) -> bool:
        return any(tag == "details" for tag, _, _ in self._open)


def _on_one_line(texts: list[str]) -> str:
    return " ".join("".join(texts).split())
