"""Reads samples that lm-eval and lmms-eval log."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import Format, Reading
from gnomon.exchange.run import Ended
from gnomon_formats.lm_eval_read import read_samples


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    return read_samples(path, **reading.fields(), taken=reading.taken)


lm_eval = Format(
    name="lm-eval",
    about="samples of lm-eval and lmms-eval, read only",
    is_of=lambda start: "doc_id" in start.fields,
    read=_read,
    reasons={"lm-eval:unscored": "without a score", "lm-eval:failed": "request of the model failed"},
)
