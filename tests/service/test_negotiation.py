"""Which media type a caller gets."""

import pytest
from starlette.exceptions import HTTPException

from gnomon_service.api.content_negotiation import choose

OFFERED = ("application/json", "application/x-ndjson", "text/csv")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, 0), ("", 0), ("*/*", 0), ("text/csv", 2), ("TEXT/CSV; header=present", 2), ("text/*", 2),
        ("application/x-ndjson, */*;q=0.1", 1), ("application/json;q=0, */*", 1),
        ("text/csv;q=0.5, application/json;q=0.4", 2), ("text/html, application/xhtml+xml, */*;q=0.8", 0),
    ],
)  # fmt: skip
def test_the_best_liked_offer_is_chosen(accept: str | None, chosen: int) -> None:
    assert choose(accept, OFFERED) == OFFERED[chosen]


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", "text/csv;q=no"])
def test_no_liked_offer_is_406(accept: str) -> None:
    with pytest.raises(HTTPException) as caught:
        choose(accept, OFFERED)
    assert caught.value.status_code == 406
