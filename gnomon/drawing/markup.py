"""Writes SVG and HTML elements in which every text and every attribute is escaped."""

import re

from markupsafe import Markup, escape

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def number(value: float) -> str:
    """A length to a tenth of a pixel, in as few characters as it takes.

    >>> number(12.04), number(-0.04), number(7.25)
    ('12', '0', '7.2')
    """
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element. Children are text unless they are Markup; an attribute that is None is left out.

    Underscores in attribute names become dashes, and one at the end is dropped. Characters that XML cannot
    hold are left out.

    >>> tag("text", "a < b", x=1.0, class_="label", data_of=None)
    Markup('<text x="1" class="label">a &lt; b</text>')
    """
    written = [
        f' {key.rstrip("_").replace("_", "-")}="{_plain(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(_plain(child) for child in children)
    ending = f">{inside}</{name}>" if inside or name not in _EMPTY else "/>"
    return Markup(f"<{name}{''.join(written)}{ending}")  # noqa: S704 all parts are escaped


_EMPTY = {"circle", "image", "line", "path", "polygon", "polyline", "rect", "use"}


def _plain(value: str | float) -> str:
    if isinstance(value, int | float):
        return number(value)
    return _NOT_XML.sub("", str(escape(value)))
