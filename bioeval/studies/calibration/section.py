"""What is said of calibration: Cllr of each system, and decision costs by prior."""

from __future__ import annotations

import xarray as xr

from bioeval.document.blocks import (
    Column,
    Paragraph,
    ResultsBySystem,
    Section,
)
from bioeval.document.cells import Number
from bioeval.document.results import (
    attempts_of,
    data_facts,
    fact_of_each,
    interval_note,
    result_messages,
    table_of,
)
from bioeval.document.text import Term, Text, say

#: Costs of a system over its attempts.
_COSTS = (
    Column("genuine_attempts", only="data"),
    Column("impostor_attempts", only="data"),
    Column("cllr", "Cllr, bits"),
    Column("min_cllr", "minimum Cllr, bits"),
    Column("calibration_loss", "calibration loss, bits", priority=1),
    Column("c_primary", "Cprimary"),
    Column("min_c_primary", "minimum Cprimary"),
)

#: What there is at each prior.
_BY_PRIOR = (
    Column("prior", "prior"),
    Column("bayes_threshold", "threshold", priority=1),
    Column("far_at_bayes", Term("far"), priority=2),
    Column("frr_at_bayes", Term("frr"), priority=2),
    Column("act_dcf", "actual"),
    Column("min_dcf", "minimum"),
)


def section(results: ResultsBySystem) -> Section:
    """Return Cllr of each system, and decision costs by prior."""
    facts = (
        *fact_of_each(results, "Over", attempts_of),
        *fact_of_each(results, "Costs", _costs_of_errors),
    )
    note = (
        "Minimum: after the best monotone map, or at the best threshold, on these data "
        "(optimistic). Actual: at the Bayes threshold. Cost 1 is that of decisions by the prior "
        "alone. Cprimary is a mean over the priors."
    )
    by_prior = table_of(results, "priors", _BY_PRIOR, "prior", title="Normalised decision cost")
    return Section(
        "calibration",
        "Calibration",
        (
            data_facts(results, *facts),
            table_of(results, "costs", _COSTS),
            by_prior,
            *interval_note(results),
            Paragraph(note, "note"),
            result_messages(results),
        ),
        task="verification",
    )


def _costs_of_errors(ds: xr.Dataset) -> Text:
    return say(
        "a miss costs {miss} and a {false accept} {accept}",
        miss=Number(float(ds.attrs["cost_miss"]), digits=6),
        accept=Number(float(ds.attrs["cost_false_accept"]), digits=6),
    )
