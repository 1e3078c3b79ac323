"""What is said of a threshold: which one to install, its rates on new people, and who is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.kinds import LARGER_IS_CLOSER, noun_of
from bioeval.base.messages import Message
from bioeval.counting.thresholds import to_user
from bioeval.document.blocks import (
    Block,
    Column,
    Messages,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
)
from bioeval.document.cells import Label, Number, Rate
from bioeval.document.results import (
    cell_of,
    data_facts,
    is_doubt,
    messages_of_result,
    one_sided,
    rate_of,
    result_messages,
    rule_in_words,
    span_of_thresholds,
    table_of_variables,
    threshold_of,
    threshold_rule,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Strong, Text, say
from bioeval.stats.aggregate import aggregate
from bioeval.studies.assurance.assured import REFUSED
from bioeval.studies.assurance.section import may_be_absent, promise_by_strict_threshold

#: Ratio to its target above which a FAR on new people is reported as missed.
CLEARLY = 1.1

#: The rates of a study, with their label and the variable with their attempts.
_RATES = (
    ("far", "{far}", "impostor_attempts"),
    ("frr", "{frr}", "genuine_attempts"),
    ("hter", "HTER", ""),
)


def threshold_study_section(results: ResultsBySystem) -> Section:
    """Return what is said of a threshold study."""
    study = results[""]
    if "far" not in study:
        raise DataError(
            "the threshold study lacks its rates and its folds; expected the whole tree, as "
            "xarray.open_datatree reads it from a file"
        )
    doubts = [x for x in messages_of_result(study) if is_doubt(x)]
    # Of doubtful kinds or labels no threshold is of use.
    refused = any(doubt.code != "near-chance" for doubt in doubts)
    beside = () if refused else (*REFUSED, "target-not-shown")
    answer: Iterator[Block] = _answer(study)
    if refused:
        nothing = (
            "No threshold to install: impostor scores are nearer than genuine scores. Mend the "
            "kind or the labels as the warning says, and repeat."
        )
        answer = iter([Paragraph(nothing, "answer"), *_rates(study), *_missed(study)])
    messages = [
        x for x in result_messages(results).messages if x not in doubts and x.code not in beside
    ]
    searched = "unenrolled_people" in study
    compared: Text = ""
    if not searched and "gallery_templates" in study.attrs and "use" not in study.attrs:
        templates = "all templates" if study.attrs.get("templates") == "multi" else "one template"
        compared = f"attempts with {templates}"
    return Section(
        "threshold_study",
        "",
        (
            data_facts(results, attempts=compared),
            *([Messages(doubts, alarm=True)] if doubts else []),
            *answer,
            *people_needed(study),
            table_of_variables(folds_of(study), "repeat", "fold", id="folds"),
            Messages(messages),
        ),
        task=rates_are_of(study.attrs, searches=searched),
    )


def refusal_of(study: xr.Dataset) -> Message | None:
    """Return why no threshold can be promised; None where one is."""
    return _first(study, *REFUSED)


def _first(study: xr.Dataset, *codes: str) -> Message | None:
    """Return the first message with one of these codes about the whole study, not about a fold."""
    messages = messages_of_result(study)
    return next((x for x in messages if x.code in codes and not x.about), None)


def folds_of(study: xr.Dataset) -> xr.Dataset:
    """Return what the test part of each fold has."""
    of_folds = {str(name): x for name, x in study.data_vars.items() if "folds/" in str(name)}
    return xr.Dataset({name.removeprefix("folds/"): x for name, x in of_folds.items()})


def new_people(study: xr.Dataset) -> str:
    """Return whose rates are expected, of data in which subjects, or pairs, are divided."""
    divided = str(study.attrs.get("divided", "subjects"))
    return "new people" if divided == "subjects" else f"new {divided}"


def _answer(study: xr.Dataset) -> Iterator[Block]:
    """Yield the threshold to install, with what can be promised of it."""
    prefix, rule, promised = "Chosen", threshold_rule(study.attrs), "assured_threshold" in study
    why_provisional: Text | None = _first(study, "target-not-shown")
    if "subjects" not in study and rule.name != "fixed":
        why_provisional = "people are not known: many pairs may be of the same few"
    if promised:
        yield from _promise(study)
        prefix = "Without assurance"
    elif why_provisional is not None:
        prefix = "Provisional"
    elif rule.name == "fixed":
        prefix = "Given"
    headline = accepts_where(study, prefix)
    if math.isnan(study["threshold"].item()) and np.isnan(study["hter"].sel(part="all")):
        headline = "No threshold: there are no attempts of both classes to choose it on"
        unreachable = _first(study, "no-threshold")
        if unreachable is not None:
            headline = say("No threshold: {why}", why=str(unreachable.arguments["why"]))
    blocks: list[Block] = [] if promised else [Paragraph(headline, "answer")]
    if rule.name != "fixed" and not math.isnan(study["threshold"].item()):
        by = say("This threshold was chosen on all data for {rule}.", rule=rule_in_words(rule))
        blocks.append(Paragraph(by, "note"))
    if why_provisional is not None:
        blocks.append(Paragraph(say("It is provisional, because {why}.", why=why_provisional)))
    blocks += [*_rates(study), *_missed(study)]
    yield Section("threshold_of_these_data", headline if promised else "", blocks)


def accepts_where(ds: xr.Dataset, prefix: str) -> Text:
    """Return which scores the threshold of a result accepts."""
    threshold, kind = ds["threshold"].item(), str(ds.attrs["kind"])
    if math.isnan(threshold) or threshold == to_user(-math.inf, kind):
        nothing = "{prefix}: accept nothing (threshold {threshold})"
        return say(nothing, prefix=prefix, threshold=Label(threshold))
    return say(
        "{prefix}: accept where the {noun} {sign} {threshold}",
        prefix=prefix,
        noun=noun_of(kind),
        sign=">=" if kind in LARGER_IS_CLOSER else "<=",
        threshold=threshold_of(ds),
    )


def _promise(study: xr.Dataset) -> Iterator[Block]:
    """Yield what can be promised of the assured threshold, and its rates here."""
    refusal, attrs = refusal_of(study), study.attrs
    v = {str(name): x.item() for name, x in study.data_vars.items() if not x.ndim}
    if refusal is not None:
        needed: Text = ""
        if refusal.code == "too-few-people-to-promise" and not math.isnan(v["people_estimated"]):
            needed = say(
                " About {people:count people} are needed, at a {far} of {rate:rate}.",
                people=v["people_estimated"],
                rate=v["people_far"],
            )
        text = say("No threshold can be promised: {why}.{needed}", why=refusal, needed=needed)
        yield Paragraph(text, "answer")
        return
    threshold = v["assured_threshold"]
    install: Text = say("Accept nothing (threshold {at}).", at=Label(threshold))
    if math.isfinite(threshold):
        install = say("Install {at}.", at=threshold_of(study, "assured_threshold"))
    paid: Text = ""
    if v["frr_price"] > 0:
        paid = say(
            " The stricter threshold raises the {frr} on these data from {without:rate} to "
            "{here:rate}.",
            without=float(study["frr"].sel(part="all")),
            here=v["assured_frr"],
        )
    text = say(
        "{install} With {confidence:rate} confidence, the {far}{searches} among {people} is at "
        "most {target:rate}.{paid}",
        paid=paid,
        install=install,
        confidence=float(attrs["assure"]),
        target=float(threshold_rule(attrs).values[0]),
        searches=" of searches by people who are not enrolled" if "unenrolled_people" in v else "",
        people=str(attrs["assured_for"]),
    )
    yield Paragraph(text, "answer")
    here = say(
        "At {threshold} the {far} on these data is {rate:rate} (over {over}; one-sided upper "
        "limit {high:rate}). The promise is estimated: its limit counts the two people with most "
        "of these errors twice (docs/uncertainty.md). {absent}",
        threshold=threshold_of(study, "assured_threshold"),
        rate=v["assured_far"],
        over=str(attrs["assured_over"]),
        high=v["assured_far_high"],
        absent=may_be_absent(int(v["assured_people"])),
    )
    yield Paragraph(here, "note")


def _rates(study: xr.Dataset) -> Iterator[Table]:
    """Yield the rates where the threshold was chosen and those on new people, also as data."""
    folds = folds_of(study)
    statistics = aggregate(folds, ("repeat", "fold"))
    labels = statistics["statistic"].values.tolist()
    rows: list[tuple[Text, Rate, Rate, Rate, Rate]] = []
    for name, label, attempts in _RATES:
        made = int(study[attempts]) if attempts in study else None
        on_all, on_test = (rate_of(study, name, {"part": i}, attempts=made) for i in range(2))
        pooled, sd = (
            rate_of(statistics[[name]], name, {"statistic": labels.index(key)}, attempts=made)
            for key in ("pooled", "sd")
        )
        rows.append((say(label), on_all, on_test, pooled, sd))
    fixed, new = threshold_rule(study.attrs).name == "fixed", new_people(study)
    columns = (
        Column("rate", "", only="readers"),
        Column("all", "these data" if fixed else "where chosen", only="readers"),
        Column("test", new, only="readers"),
        Column("pooled", "pooled", priority=2, only="readers"),
        Column("sd", "sd", priority=1, only="readers"),
    )
    resampled: Text = ""
    if any(row[1].interval for row in rows):
        resampled = say(
            ", with the {confidence:rate} interval at this threshold (by people, for new people)",
            confidence=float(study.attrs["confidence"]),
        )
    over = say(
        "{new}: the mean over the test {divided} of {repeats:count divisions} into "
        "{folds:count folds}{chosen}, with its interval over folds (Nadeau and Bengio, a "
        "heuristic).",
        new=new.capitalize(),
        chosen="" if fixed else ", each at a threshold chosen on the others",
        divided=str(study.attrs["divided"]),
        repeats=study.sizes["repeat"],
        folds=study.sizes["fold"],
    )
    here = "These data" if fixed else "Where chosen: on the same data (optimistic)"
    ends = one_sided(study)
    notes = [say("{here}{resampled}.{ends}", here=here, resampled=resampled, ends=ends), over]
    thresholds = folds["threshold"].values
    thresholds = thresholds[np.isfinite(thresholds)]
    if len(thresholds) > 1 and not fixed:
        text = "Thresholds of the folds: {span}, sd {sd:digits 3}."
        spread = float(thresholds.std(ddof=1))
        notes.append(say(text, span=span_of_thresholds(folds), sd=spread))
    yield Table("rates", columns, rows, notes=notes)
    yield table_of_variables(study, "part", id="parts")
    yield table_of_variables(statistics, "statistic", id="statistics")


def _missed(study: xr.Dataset) -> Iterator[Block]:
    """Yield by how much a FAR target was missed on new people."""
    rule, far = threshold_rule(study.attrs), study["far"].sel(part="test").item()
    target = float(rule.values[0]) if rule.name == "far" else 0.0
    if not target or not far > CLEARLY * target:
        return
    text = "On {new} the {far} was {rate:rate}, {times} times the target of {target:rate}"
    low = study["far_low"].sel(part="test")
    text += ", but its interval contains the target." if low <= target else "."
    times = Number(far / target, decimals=1 if far / target < 9.95 else 0)
    sentence = say(text, new=new_people(study), rate=far, times=times, target=target)
    yield Paragraph(sentence, "warning")


def people_needed(study: xr.Dataset) -> Iterator[Table]:
    """Yield the people that the target needs, by the rules of 3 and 30 and for a promise."""
    people, far = "subjects_needed" in study, "impostors_needed" in study
    if not people and not far:
        return
    searched = "unenrolled_people" in study
    headings = {"purpose": ""}
    if people:
        headings["people"] = "people not enrolled" if searched else "people"
    if far and not searched:
        headings["pairs"] = "pairs of people" if people else "impostor pairs"
    if far:
        headings["missing"] = "missing"
    columns = [Column(name, heading, only="readers") for name, heading in headings.items()]

    def row(purpose: Text, rule: int = 0, **names: str) -> list[Text | None]:
        cells = {
            x: cell_of(study, name, {"rule": rule}, shown="count") for x, name in names.items()
        }
        return [purpose, *(cells.get(column.name) for column in columns[1:])]

    pairs = "impostor_pairs"
    if "pairs_of_people" in study and study["pairs_of_people"] < study[pairs]:
        pairs = "pairs_of_people"
    there = "unenrolled_people" if searched else "subjects"
    rows = [row("these data", people=there, pairs=pairs)]
    purposes = "to show the target, rule of 3", "to expect 30 errors, rule of 30"
    needed = {"people": "subjects_needed", "pairs": "impostors_needed"}
    needed["missing"] = "impostors_missing"
    rows += [row(purpose, i, **needed) for i, purpose in enumerate(purposes)]
    notes: list[Text] = [
        "Lower bounds: attempts that share a person are not independent, and further templates of "
        "the same people do not count."
    ]
    if np.isfinite(study.get("people_estimated", math.nan)):
        assure = float(study.attrs["assure"])
        promise = promise_by_strict_threshold(assure)
        rows.append(row(Strong(promise), people="people_estimated"))
        at = "The strict threshold has a {far} of {rate:rate} on these data; a looser one needs "
        notes.append(say(f"{at}more people.", rate=float(study["people_far"])))
    if people and far and "subjects" in study:
        notes.append(may_be_absent(int(study["subjects"])))
    title = say(
        "{who} needed for the {rate:term}",
        who="People" if people else "Impostor pairs",
        rate="far" if far else "frr",
    )
    yield Table("people", columns, rows, title=title, notes=notes)
    yield table_of_variables(study, "rule", id="rules")
