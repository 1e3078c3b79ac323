"""What is said of a threshold: which one to install, its rates on new people, and who is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import to_user
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.base.messages import Message
from bioeval.document.blocks import (
    Block,
    Column,
    Messages,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
)
from bioeval.document.cells import Count, Label, Number, Rate, threshold_to_install
from bioeval.document.results import (
    data_facts,
    is_doubt,
    messages_of_result,
    result_messages,
    rule_in_words,
    table_of_variables,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Strong, Text, say
from bioeval.studies.assurance.assured import REFUSED
from bioeval.studies.assurance.section import may_be_absent

#: Ratio to its target above which a FAR on new people is reported as missed.
CLEARLY = 1.1

#: The rates of a study, with their label and the variable with their attempts.
_RATES = (
    ("far", "{far}", "impostor_attempts"),
    ("frr", "{frr}", "genuine_attempts"),
    ("hter", "HTER", ""),
)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of a threshold study."""
    study = results[""]
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
        answer = iter([Paragraph(nothing, "answer")])
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
            _rates(study),
            *_missed(study),
            *people_needed(study),
            table_of_variables(study, "repeat", "fold", id="folds"),
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


def new_people(study: xr.Dataset) -> str:
    """Return whose rates are expected, of data in which subjects, or pairs, are divided."""
    divided = str(study.attrs.get("divided", "subjects"))
    return "new people" if divided == "subjects" else f"new {divided}"


def _rule(study: xr.Dataset) -> Rule:
    return Rule.written(str(study.attrs["threshold_rule"]))


def _answer(study: xr.Dataset) -> Iterator[Block]:
    """Yield the threshold to install, with what can be promised of it."""
    prefix, rule, promised = "Install", _rule(study), "assured_threshold" in study
    out_of_reach = _first(study, "target-not-shown")
    if promised:
        yield from _promise(study)
        prefix = "Without assurance"
    elif out_of_reach is not None:
        prefix = "Provisional"
    elif rule.name == "fixed":
        prefix = "Given"
    headline = accepts_where(study, prefix)
    if math.isnan(study["threshold"].item()) and np.isnan(study["optimistic_hter"]):
        headline = "No threshold: there are no attempts of both classes to choose it on"
    blocks = [Paragraph(headline, "" if promised else "answer")]
    if rule.name != "fixed":
        by = say("This threshold was chosen on all data for {rule}.", rule=rule_in_words(rule))
        blocks.append(Paragraph(by, "note"))
    if out_of_reach is not None:
        blocks.append(Paragraph(say("It is provisional, because {reason}.", reason=out_of_reach)))
    yield Section("threshold_of_these_data", "", blocks)


def accepts_where(ds: xr.Dataset, prefix: str) -> Text:
    """Return which scores the threshold of a result accepts."""
    threshold, kind = ds["threshold"].item(), str(ds.attrs["kind"])
    if math.isnan(threshold) or threshold == to_user(-math.inf, kind):
        nothing = "{prefix}: accept nothing (threshold {threshold})"
        return say(nothing, prefix=prefix, threshold=Label(threshold))
    exact: Text = ""
    if math.isfinite(threshold) and float(f"{threshold:.6g}") != threshold:
        exact = say(" (exactly {threshold})", threshold=Label(threshold))
    return say(
        "{prefix}: accept where the {noun} {sign} {threshold}{exact}",
        prefix=prefix,
        noun=noun_of(kind),
        sign=">=" if larger_is_closer(kind) else "<=",
        threshold=threshold_to_install(threshold, kind, variable="threshold"),
        exact=exact,
    )


def _promise(study: xr.Dataset) -> Iterator[Block]:
    """Yield what can be promised of the assured threshold, and its rates here."""
    refusal, v, attrs = refusal_of(study), scalars(study), study.attrs
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
    threshold, kind = v["assured_threshold"], str(attrs["kind"])
    install: Text = say("Accept nothing (threshold {at}).", at=Label(threshold))
    if math.isfinite(threshold):
        at = threshold_to_install(threshold, kind, variable="assured_threshold")
        install = say("Install {threshold}.", threshold=at)
    paid: Text = ""
    if not math.isnan(v["frr_price"]):
        paid = say(
            " The stricter threshold raises the {frr} on these data from {without:rate} to "
            "{here:rate}."
            if v["frr_price"]
            else " The {frr} on these data remains {here:rate}.",
            without=v["optimistic_frr"],
            here=v["assured_frr"],
        )
    searched = "unenrolled_people" in v
    text = say(
        "{install} With {confidence:rate} confidence, the {far}{searches} among {people} is at "
        "most {target:rate}.{paid}",
        install=install,
        confidence=float(attrs["assure"]),
        target=float(_rule(study).values[0]),
        searches=" of searches by people who are not enrolled" if searched else "",
        people=str(attrs["assured_for"]),
        paid=paid,
    )
    yield Paragraph(text, "answer")
    by: Text = "The promise is exact, since every person is in only one comparison."
    if attrs["assured_rule"] == "estimated":
        by = say(
            "The promise is estimated (docs/uncertainty.md). {rare}",
            rare=may_be_absent(int(v["assured_people"])),
        )
    here = say(
        "At {threshold} the {far} on these data is {rate:rate} (mean over {over}; upper limit "
        "{high:rate}). {by}",
        threshold=Label(threshold),
        rate=v["assured_far"],
        over=str(attrs["assured_over"]),
        high=v["assured_far_high"],
        by=by,
    )
    yield Paragraph(here, "note")


def _rates(study: xr.Dataset) -> Table:
    """Return the rates where the threshold was chosen, and those on new people."""
    v, fixed = scalars(study), _rule(study).name == "fixed"
    rows = []
    for name, label, attempts in _RATES:
        chosen, made = f"optimistic_{name}", v.get(attempts)
        there = Rate(v[chosen], _limits(v, chosen), variable=chosen, attempts=made)
        mean = Rate(v[f"{name}_mean"], _limits(v, name), variable=f"{name}_mean", attempts=made)
        pooled, sd = (
            Rate(v[x], variable=x, attempts=made) for x in (f"{name}_pooled", f"{name}_sd")
        )
        rows.append((Label(name), say(label), there, mean, pooled, sd))
    return Table(
        "rates",
        (
            Column("rate", only="data"),
            Column("label", only="readers"),
            Column("where_chosen", "these data" if fixed else "where chosen"),
            Column("on_new_people", new_people(study)),
            Column("pooled", "pooled", priority=2),
            Column("sd", "sd", priority=1),
        ),
        rows,
        notes=tuple(_columns(study, v, fixed)),
    )


def _limits(v: Mapping[str, Any], rate: str) -> tuple[float, float] | None:
    """Return the interval of a rate, if it is known."""
    limits = v.get(f"{rate}_low", math.nan), v.get(f"{rate}_high", math.nan)
    return limits if np.isfinite(limits).all() else None


def _columns(study: xr.Dataset, v: Mapping[str, Any], fixed: bool) -> Iterator[Text]:
    """Yield what the columns of the table of rates are."""
    resampled: Text = ""
    if any(_limits(v, f"optimistic_{name}") for name, *_ in _RATES):
        resampled = say(
            ", with the {confidence:rate} interval at this threshold (subject-bootstrap for new "
            "people)",
            confidence=float(study.attrs["confidence"]),
        )
    here = "These data" if fixed else "Where chosen: on the same data (optimistic)"
    yield say("{here}{resampled}.", here=here, resampled=resampled)
    yield say(
        "{new}: the mean over the test {divided} of {repeats:count divisions} into "
        "{folds:count folds}{chosen}, with its interval over folds (Nadeau and Bengio, a "
        "heuristic).",
        new=new_people(study).capitalize(),
        chosen="" if fixed else ", each at a threshold chosen on the others",
        divided=str(study.attrs["divided"]),
        repeats=study.sizes["repeat"],
        folds=study.sizes["fold"],
    )
    t = study["fold_threshold"].values
    t = t[np.isfinite(t)]
    if len(t) > 1 and not fixed:
        yield say(
            "Thresholds of the folds: {low:score} to {high:score}, sd {sd}.",
            low=float(t.min()),
            high=float(t.max()),
            sd=Number(float(t.std(ddof=1)), digits=3),
        )


def _missed(study: xr.Dataset) -> Iterator[Block]:
    """Yield by how much a FAR target was missed on new people."""
    rule, far, low = _rule(study), study["far_mean"].item(), study["far_low"].item()
    if rule.name != "far" or not far > CLEARLY * rule.values[0]:
        return
    target = float(rule.values[0])
    text = "On {new} the {far} was {rate:rate}; the target was 0."
    times: Text = ""
    if target:
        text = "On {new} the {far} was {rate:rate}, {times} times the target of {target:rate}"
        text += ", but its interval contains the target." if low <= target else "."
        times = Count(far / target) if far / target >= 9.95 else Number(far / target, decimals=1)
    if "assured_threshold" in study and refusal_of(study) is None:
        text = f"Of the threshold without assurance alone: o{text[1:]}"
    said = say(text, new=new_people(study), rate=far, times=times, target=target)
    yield Paragraph(said, "warning")


def people_needed(study: xr.Dataset) -> Iterator[Table]:
    """Yield the people that the target needs, by the rules of 3 and 30 and for a promise."""
    v = scalars(study)
    people, far = "subjects_for_3" in v, "impostors_for_3" in v
    if not people and not far:
        return
    searched = "unenrolled_people" in v
    pairs = far and not searched
    columns = [Column("purpose")]
    if people:
        columns.append(Column("people", "people not enrolled" if searched else "people"))
    if pairs:
        columns.append(Column("pairs", "pairs of people" if people else "impostor pairs"))
    if far:
        columns.append(Column("missing", "missing"))
    compared = min(v["impostor_pairs"], v.get("pairs_of_people", math.inf))
    there = _counts(v, people="unenrolled_people" if searched else "subjects")
    rows: list[dict[str, Text | None]] = [
        {"purpose": "these data", **there, "pairs": Count(compared)}
    ]
    for rule, purpose in ((3, "to show the target"), (30, "to expect 30 errors")):
        names = {"people": "subjects", "pairs": "impostors", "missing": "more"}
        needed = _counts(v, **{key: f"{name}_for_{rule}" for key, name in names.items()})
        rows.append({"purpose": f"{purpose}, rule of {rule}", **needed})
    notes: list[Text] = [
        "Lower bounds: attempts that share a person are not independent, and further templates of "
        "the same people do not count."
    ]
    if np.isfinite(v.get("people_estimated", math.nan)):
        assure = float(study.attrs["assure"])
        promise = say("to promise the target at {assure:rate}, about", assure=assure)
        rows.append({"purpose": Strong(promise), **_counts(v, people="people_estimated")})
        strict = "The promise is by a threshold with a {far} of {strict:rate} here; a looser one "
        notes.append(say(f"{strict}needs more people.", strict=v["people_far"]))
    if people and pairs and "subjects" in v:
        notes.append(may_be_absent(v["subjects"]))
    yield Table(
        "people",
        columns,
        [[row.get(column.name) for column in columns] for row in rows],
        title=say(
            "{who} needed for the {rate:term}",
            who="People" if people else "Impostor pairs",
            rate="far" if far else "frr",
        ),
        notes=tuple(notes),
    )


def _counts(v: Mapping[str, Any], **names: str) -> dict[str, Text | None]:
    """Return numbers that a study has, by the name of their column."""
    return {key: Count(v[name], variable=name) for key, name in names.items() if name in v}


def scalars(study: xr.Dataset) -> dict[str, Any]:
    """Return the numbers of a study that are single."""
    return {str(name): x.item() for name, x in study.data_vars.items() if not x.ndim}
