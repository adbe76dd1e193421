"""Logs: one line an event, and no secret in any of them."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.redaction import Redactor
from gnomon_workers.logs import set_up_logs

CANARY = "canary-7f3a9c-value"
log = logging.getLogger("tests.logs")


@pytest.fixture(autouse=True)
def same_logging_after() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def lines_of(environ: dict[str, str]) -> list[str]:
    stream = io.StringIO()
    set_up_logs({"PROVIDER_API_KEY": CANARY, **environ}, stream=stream)
    log.info("called with %s and Bearer abcdef", CANARY)
    try:
        raise ValueError(f"redis://user:{CANARY}@host refused\nsecond line")
    except ValueError:
        log.exception("it failed")
    log.debug("not told")
    return stream.getvalue().splitlines()


def test_json_logs_are_one_object_a_line_without_secrets() -> None:
    first, second = map(json.loads, lines_of({"GNOMON_LOG_FORMAT": "json"}))
    assert first["message"] == "called with [secret] and Bearer [secret]"
    assert (first["level"], first["logger"]) == ("info", "tests.logs")
    assert second["message"] == "it failed"
    assert "second line" in second["error"]
    assert CANARY not in json.dumps([first, second])


def test_text_logs_hold_no_secret_either() -> None:
    text = "\n".join(lines_of({}))
    assert "it failed" in text
    assert CANARY not in text


def test_the_level_is_the_operators() -> None:
    assert len(lines_of({"GNOMON_LOG_FORMAT": "json", "GNOMON_LOG_LEVEL": "error"})) == 1
    assert len(lines_of({"GNOMON_LOG_FORMAT": "json", "GNOMON_LOG_LEVEL": "debug"})) == 3


@pytest.mark.parametrize("name", ["GNOMON_LOG_FORMAT", "GNOMON_LOG_LEVEL"])
def test_a_setting_that_is_not_allowed_is_named(name: str) -> None:
    with pytest.raises(SpecError, match="allowed") as caught:
        set_up_logs({name: "loud"})
    assert caught.value.field == name


def test_longer_secrets_are_struck_out_before_their_parts() -> None:
    assert Redactor(["abcd", "abcdefgh"], environ={}).redact_text("abcdefgh abcd") == "[secret] [secret]"
