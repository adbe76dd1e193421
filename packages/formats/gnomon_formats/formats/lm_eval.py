"""Reads samples that lm-eval and lmms-eval log."""

from gnomon.exchange.format import Format
from gnomon_formats.lm_eval_read import read_samples

lm_eval = Format(
    name="lm-eval",
    about="samples of lm-eval and lmms-eval, read only",
    is_of=lambda start: "doc_id" in start.fields,
    read=read_samples,
    reasons={"lm-eval:unscored": "without a score", "lm-eval:failed": "request of the model failed"},
)
