"""Shows beside each difference what it costs: ratios of tokens, calls, seconds and dollars per question."""

from collections.abc import Mapping

from typing_extensions import TypedDict

from gnomon.report.contrast import ContrastsPart, withheld_pairs
from gnomon.report.matched_spec import matched_lines
from gnomon.report.section import Interval, PairKey, ReportInput, Section, pair_key
from gnomon.report.text_formats import count, gain
from gnomon.report.usage import Usage
from gnomon.report.usage_ratios import PairPrice, QuantityRatio, price_in_words, price_of
from gnomon.stopping import while_wanted


class PricesPart(TypedDict):
    """The price of every comparison."""

    prices: list[PairPrice]


class _Shown(ContrastsPart, PricesPart):
    """What the section shows."""


def _prices(report_input: ReportInput) -> PricesPart:
    used, spec = report_input.collected(Usage).used(report_input.scores), report_input.spec
    return {
        "prices": [
            price_of(
                used,
                report_input.scores,
                pair,
                report_input.benchmark.headline,
                matched=matched_lines(spec, pair, job_id=report_input.job_id, status=report_input.status),
            )
            for pair in while_wanted(report_input.pairs)
        ]
    }


def amount(ratio: QuantityRatio, value: float | None) -> str:
    """How much a trial uses on average.

    >>> amount({"quantity": "dollars"}, 0.00123), amount({"quantity": "tokens"}, 1234.5)
    ('$0.00123', '1,234')
    >>> amount({"quantity": "seconds"}, 1.234), amount({"quantity": "calls"}, None)
    ('1.2', '–')
    """
    if value is None:
        return "–"
    if ratio["quantity"] == "dollars":
        return f"${value:.3g}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def ratio_text(value: float | None, ci95: Interval) -> str:
    """A ratio with its interval, to three digits.

    >>> ratio_text(3.1234, [2.9, 3.456]), ratio_text(1.0, None), ratio_text(None, None)
    ('3.12 [2.9, 3.46]', '1', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3g} [{ci95[0]:.3g}, {ci95[1]:.3g}]" if ci95 else f"{value:.3g}"


def left_out(ratio: QuantityRatio) -> str:
    """What a figure is made without, and why there is none."""
    parts = [ratio["note"]] if ratio["note"] else []
    if ratio["lost_unknown"]:
        parts.append(f"without {count(ratio['lost_unknown'], 'lost trial')} that did not tell")
    if ratio["cached"]:
        parts.append(f"without {count(ratio['cached'], 'trial')} with replies from the cache")
    return "; ".join(parts)


def gain_text(price: PairPrice, *, withheld: bool) -> str:
    """Points per 1,000 extra tokens with their interval, or why there are none."""
    if withheld:
        return "withheld"
    told = price["gain_per_1000_tokens"]
    if told["value"] is None:
        return f"none: {told['note']}"
    ends = f" [{gain(told['ci95'][0])}, {gain(told['ci95'][1])}]" if told["ci95"] else ""
    return f"{gain(told['value'])}{ends}"


def _view(report: _Shown) -> Mapping[PairKey, Mapping[str, object]]:
    withheld = withheld_pairs(report)
    return {
        pair_key(price): {
            "price": price,
            "words": price_in_words(price, offer=False),
            "gained": gain_text(price, withheld=pair_key(price) in withheld),
            "rows": [
                (
                    ratio,
                    amount(ratio, ratio["baseline"]),
                    amount(ratio, ratio["variant"]),
                    ratio_text(ratio["ratio"], ratio["ci95"]),
                    left_out(ratio),
                )
                for ratio in price["ratios"]
            ],
        }
        for price in report.get("prices", ())  # absent from reports of older versions
    }


prices = Section(
    name="prices",
    title="At what price",
    question="What does the variant take beside its baseline, and was the baseline given as much?",
    fields=PricesPart,
    compute=_prices,
    collector=lambda *_: Usage(),
    place=46,
    view=_view,
    per_comparison=True,
)
