"""What is said of the size of a test: people for an interval, and people for a FAR."""

from __future__ import annotations

import math

import xarray as xr

from bioeval.document.blocks import (
    Column,
    Fact,
    Facts,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Number
from bioeval.document.results import attempts_in_words, cell_of, result_messages, table_of
from bioeval.document.text import Text, say
from bioeval.studies.assurance.section import promise_by_strict_threshold


def sample_size_section(results: ResultsBySystem) -> Section:
    """Return the people that an interval needs, then those of the rules of 3 and of 30."""
    ds = results[""]
    return Section(
        "sample-size",
        "",
        (
            _assumed(ds),
            _plans(ds),
            _people(ds),
            _people_for_frr(ds),
            Paragraph(
                "All people are compared with each other. A pair of people counts once, however "
                "many templates the two people have. The numbers of people are lower bounds, "
                "because the rules assume independent pairs, but pairs that share a person are not "
                "independent. Genuine pairs should come from different days, in at least two "
                "sessions.",
                "note",
            ),
            result_messages(results),
        ),
        task="verification",
    )


def _assumed(ds: xr.Dataset) -> Facts:
    """Return the interval that is planned, and the figures that the plan starts from."""
    attrs, icc = ds.attrs, float(ds["icc"])
    interval = say(
        "{confidence:rate} interval of the {frr} by subject, at most {width} pp (percentage "
        "points) wide with a probability of {assurance:rate}",
        confidence=float(attrs["confidence"]),
        width=Number(100 * float(attrs["frr_width"]), digits=4),
        assurance=float(attrs["assurance"]),
    )
    in_use = "attempts_of_subject" in ds.dims
    errors = say(
        "{frr} {value:rate}; correlation of two genuine errors of a subject {icc}"
        if in_use
        else "{frr} {value:rate}; correlation of two genuine errors of a subject {icc}, and "
        "{shared} if they share a template",
        value=float(ds["value"]),
        icc=Number(icc, digits=3),
        shared=Number(icc + float(ds["template_icc"]), digits=3),
    )
    facts = [Fact("Interval", interval), Fact("Expected", errors)]
    if "use" in attrs:
        facts.append(Fact("Attempts", attempts_in_words(attrs)))
    if "pilot_subjects" in ds:
        subjects = Count(int(ds["pilot_subjects"]), noun="subjects")
        facts.append(Fact("Pilot", say("{n} with a genuine attempt", n=subjects)))
    return Facts((*facts, Fact("Terms", Vocabulary())))


def _plans(ds: xr.Dataset) -> Table:
    """Return the people and their templates or attempts, for each number of these."""
    over = "attempts_of_subject" if "attempts_of_subject" in ds.dims else "templates"
    what = "attempts" if over == "attempts_of_subject" else "templates"
    columns = (
        Column(over, f"{what} of each subject"),
        Column("subjects", "subjects"),
        Column(f"all_{what}", f"all {what}", priority=1),
        Column("design_effect", "design effect", priority=2),
        Column("subject_sd", only="data"),
    )
    title = "Subjects for the width of the interval"
    return table_of(ds, "plans", columns, over, title=title)


def _people(ds: xr.Dataset) -> Table:
    """Return the people that the FAR needs."""
    rows: list[tuple[Text | None, ...]] = []
    aims = {3: "to show the target without a {false accept}", 30: "to expect 30 {false accepts}"}
    for rule, aim in aims.items():
        names = f"subjects_rule_of_{rule}", f"trials_rule_of_{rule}"
        rows.append((say(f"{aim}, rule of {rule}"), *(cell_of(ds, name) for name in names)))
    needed = float(ds.get("people_estimated", math.nan))
    if not math.isnan(needed):
        promise = promise_by_strict_threshold(float(ds.attrs["confidence"]))
        rows.append((promise, Count(needed, variable="people_estimated"), None))
    return Table(
        "people",
        (Column("aim"), Column("people", "people"), Column("pairs", "pairs of people", priority=1)),
        rows,
        title=say("People needed for {far} at most {target:rate}", target=float(ds.attrs["far"])),
    )


def _people_for_frr(ds: xr.Dataset) -> Table:
    """Return the people that the FRR needs."""
    aims = {
        3: "to show the rate without a {false reject}, rule of 3",
        30: "to expect 30 people with an error, rule of 30",
    }
    rows = [(say(aim), cell_of(ds, f"subjects_rule_of_{rule}_frr")) for rule, aim in aims.items()]
    return Table(
        "people_for_frr",
        (Column("aim"), Column("people", "people")),
        rows,
        title=say("People needed for {frr} {value:rate}", value=float(ds["value"])),
    )
