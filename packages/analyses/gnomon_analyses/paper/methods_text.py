"""Writes one paragraph of methods for a paper, of what the report itself holds."""

from collections import Counter
from collections.abc import Iterator, Sequence

from typing_extensions import TypedDict

from gnomon.report.contrast import ContrastReport, ContrastsPart, comparisons, looked_at
from gnomon.report.phrases import TOKENS_UNKNOWN, clusters_words
from gnomon.report.section import pair_key
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.sections.drift import DriftPart
from gnomon.report.sections.integrity import IntegrityPart
from gnomon.report.sections.job import JobPart, repeats_text
from gnomon.report.sections.plan import PlanPart
from gnomon.report.sections.prices import PricesPart
from gnomon.report.sections.seal import SealPart
from gnomon.report.sections.sequential import SequentialPart
from gnomon.report.text_formats import count, listed, p_text, percent, points, points_range
from gnomon.report.usage_ratios import price_in_words

MOST_TOLD = 4  # comparisons whose figures are told; of more the table has them


class ModelUsed(TypedDict):
    """A model that answered: its id, how its replies were drawn, and the versions that it told."""

    model: str
    id: str
    decoding: str
    versions: list[str]


class Told(
    JobPart, PlanPart, SealPart, IntegrityPart, ArmsPart, ContrastsPart, SequentialPart, DriftPart, PricesPart
):
    """The parts of a report from which the paragraph is made."""


def paragraph(report: Told, models: Sequence[ModelUsed], *, alpha: float, imported: bool) -> str:
    """The whole paragraph; each of its numbers stands in the report."""
    primary = [contrast for contrast in comparisons(report) if contrast["family"] == "primary"]
    sentences = [
        *_what_was_run(report, models, imported=imported),
        *_how_it_was_compared(report, primary, alpha=alpha),
        *_results(report, primary),
        *_loss(report, primary),
        *_planned(report, imported=imported),
    ]
    return " ".join(sentences)


def _what_was_run(report: Told, models: Sequence[ModelUsed], *, imported: bool) -> Iterator[str]:
    job, of = report["job"], report["denominators"]
    times = "once under each arm" if of["repeats"] == 1 else f"{of['repeats']:,} times under each arm"
    if of["trials"]["finished"] < of["trials"]["planned"]:
        times = f"planned {times}"
    if "repeats_by_arm" in job:
        times = f"under the arms ({repeats_text(job)}); a question's score is the mean of its scored repeats"
    arms, texts = job["arms"], job["arm_texts"]
    did, how = "We imported runs of", "prompts and scoring unknown"
    if not imported:
        did = "We ran"
        how = f"version {job['benchmark_version']}, {report['protocol']} prompts, {report['scoring']} scoring"
    arm_names = [f"“{arm}”" if imported else f"“{arm}” ({texts.get(arm, 'not described')})" for arm in arms]
    yield (
        f"{did} the {'arm' if len(arms) == 1 else 'arms'} {listed(arm_names)} on {job['benchmark']} ({how}): "
        f"{count(of['samples'], 'question')} in {count(of['cells'], 'subset')} and {clusters_words(of)}, "
        f"{times}."
    )
    yield f"The {'model was' if len(models) == 1 else 'models were'} {listed(map(_model, models))}."
    for model, text in job["model_texts"].items():
        yield f"{model} is {text.partition(':')[0].rstrip('.')}."
    if job["status"] != "completed":
        yield (
            f"The job is {job['status']}: {of['trials']['finished']:,} of "
            f"{count(of['trials']['planned'], 'trial')} have ended."
        )
    sequential = report["sequential"]
    if sequential is not None:
        looks = count(len(sequential["looks"]), "look")
        how = "stopped" if sequential["decided"] else "was not stopped"
        yield (
            f"The job could stop early, and {how}: a group sequential test at planned looks "
            f"(error spending α·t², repeated intervals; {looks} taken)."
        )


def _model(used: ModelUsed) -> str:
    called = used["model"] if used["id"] == used["model"] else f"{used['model']} ({used['id']})"
    told = f"as version {listed(used['versions'])}" if used["versions"] else "whose version was not told"
    return f"{called}, {told}, with {used['decoding']}"


def _how_it_was_compared(report: Told, primary: Sequence[ContrastReport], *, alpha: float) -> Iterator[str]:
    mean = "mean over subsets" if report["job"]["headline"] == "mean_of_cells" else "mean over questions"
    methods = dict.fromkeys(arm["interval_method"] for arm in report["arms"])
    yield f"A score is the {mean} (intervals of arms: {listed(methods)})."
    families = Counter(contrast["family"] for contrast in looked_at(report))
    if not (primary and families):  # nothing was tested; the results say why
        return
    independent = "clusters" if report["job"]["cluster"] == "auto" else "questions"
    if "crossing_clusters" in report["denominators"]:
        independent = "clusters of two crossed factors"
    tests = dict.fromkeys(contrast["test"] for contrast in primary)
    intervals = dict.fromkeys(contrast["interval_method"] for contrast in primary)
    yield (
        f"Arms are compared question by question, with {independent} as independent units; "
        f"test: {listed(tests)}; 95 % interval: {listed(intervals)}."
    )
    yield (
        f"Adjusted for {count(families['primary'], 'primary comparison')} and "
        f"{families['exploratory']:,} exploratory: "
        f"{report['plan']['adjustment']}; two-sided α {alpha:g}."
    )
    margin = report["plan"]["margin_text"]
    yield f"Differences within the margin ({margin}) count as none (two one-sided tests)."


def _results(report: Told, primary: Sequence[ContrastReport]) -> Iterator[str]:
    if len(primary) > MOST_TOLD:
        yield f"The table has the {len(primary):,} primary comparisons."
        return
    prices = {pair_key(price): price_in_words(price, offer=False) for price in report["prices"]}
    for contrast in primary:
        who = _pair(contrast)
        over = f"over {count(contrast['n'], 'question')} in {clusters_words(contrast)}"
        if contrast["diff"] is None:
            yield f"{who}: {'; '.join(contrast['reasons'])}."
        elif contrast["withheld"]:
            yield f"{who}: no figure is given, as lost trials could turn it ({over})."
        else:
            why = f" ({'; '.join(contrast['reasons'])})" if contrast["reasons"] else ""
            why += ", by less than the margin" if contrast["below_margin"] else ""
            yield (
                f"{who}: {points(contrast['diff'])} points{_tested(contrast)} ({over}): "
                f"{VERDICTS[contrast['verdict']]}{why}."
            )
        if contrast["mde"] is not None:
            size = percent(contrast["mde"])
            yield f"Such a study finds a true difference of {size} points in 8 of 10 cases."
        if price := prices.get(pair_key(contrast)):
            name = f"“{contrast['variant']}”"
            is_unknown = price == TOKENS_UNKNOWN
            yield f"The tokens of {name} are not known." if is_unknown else f"{name} answers {price}."
        if contrast["also_differs"]:
            yield f"These arms also differ in {listed(contrast['also_differs'])}."


def _tested(contrast: ContrastReport) -> str:
    """The interval and the p that the verdict goes by: of "no effect" those of equivalence."""
    if contrast["verdict"] == "no_effect":
        name, ends, p = "90 % interval", contrast["ci90"], "p of equivalence"
        values = contrast["equivalence_p"], contrast["equivalence_p_adjusted"]
    else:
        name, ends, p = "95 % interval", contrast["ci95"], "p"
        values = contrast["p"], contrast["p_adjusted"]
    interval = f", {name} {points_range(ends)}" if ends else ""
    tested = "" if values[0] is None else f", {p} {p_text(values[0])}, adjusted {p_text(values[1])}"
    return f"{interval}{tested}"


def _pair(contrast: ContrastReport) -> str:
    return f"“{contrast['variant']}” against “{contrast['baseline']}” ({contrast['model']})"


VERDICTS = {
    "helps": "it does better",
    "hurts": "it does worse",
    "no_effect": "no difference beyond the margin",
    "undecided": "it cannot be told",
}


def _loss(report: Told, primary: Sequence[ContrastReport]) -> Iterator[str]:
    trials = report["denominators"]["trials"]
    lost, ended = trials["infra_missing"], trials["finished"]
    if trials["model_failed"]:
        yield (
            f"Of {count(ended, 'trial')} {trials['model_failed']:,} failed by the model’s own doing "
            "and count as wrong."
        )
    if not lost:
        yield "No trial was lost." if ended else "No trial has ended."
        return
    share, causes = percent(lost / ended), listed(report["integrity"]["missing_by_cause"])
    yield f"{lost:,} of {count(ended, 'trial')} ({share} %) were lost ({causes}) and left out."
    for contrast in primary:
        if contrast["worst_ci95"] and contrast["loss_p"] is not None and not contrast["withheld"]:
            who, reach = _pair(contrast), points_range(contrast["worst_ci95"])
            yield f"With lost trials at worst the interval of {who} is {reach} points."


def _planned(report: Told, *, imported: bool) -> Iterator[str]:
    seal, plan = report["seal"], report["plan"]
    if imported:
        yield "The answers were imported: whether the plan was made before them is not known."
    elif seal is not None and seal["planned_at"]:
        yield f"Arms, comparisons and margin were declared before any answer (sealed {seal['planned_at']})."
        if seal["after"]:
            yield f"After that: {'; '.join(seal['after'])}."
    elif seal is not None and seal["lines"][0]["kind"] == "imported":
        yield "The plan was sealed after the answers were there."
    else:
        yield "No plan was sealed: whether it was made before any answer is not known."
    deviations = [*plan["deviations"], *(seal["faults"] if seal else ())]
    if deviations:
        yield f"Deviations: {'; '.join(deviations)}."
    facts = report["integrity"]
    yield f"Gnomon {facts['gnomon_version']}; spec {facts['spec_hash']}."
