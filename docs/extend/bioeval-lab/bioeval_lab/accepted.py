"""How many of the accepted claims are impostors'?"""

import numpy as np

import bioeval as be
from bioeval.base import Name, require_number
from bioeval.document import Column, Rate, Score, Section, Table, data_facts, result_messages
from bioeval.results import along, build

NAMES = {"impostors_accepted": Name("proportion of accepted claims that are impostors'")}


def accepted_impostors(scores, *, impostors=0.01, progress=None):
    """Evaluate the proportion of accepted claims that are impostors', by Bayes' rule.

    Parameters
    ----------
    scores : Scores
        The genuine and impostor attempts of which GAR and FAR are taken.
    impostors : float
        The proportion of all claims that are impostors'.
    """
    require_number("impostors", impostors, low=0, high=1)
    rates = be.verification(scores, far_targets=[], progress=progress)
    wrong = impostors * rates.far.values
    accepted = wrong + (1 - impostors) * rates.gar.values
    rate = wrong / np.where(accepted > 0, accepted, np.nan)
    attrs = {**rates.attrs, "result_type": "accepted-claims", "task": "accepted claims"}
    attrs["impostors"] = impostors
    found = along(("threshold",), impostors_accepted=rate)
    return build(found, NAMES, {"threshold": rates.threshold.values}, attrs)


def section(results):
    """Return what a reader is shown: a few rows of the curve, of which data have all."""
    (result,) = results.values()
    curve = result.impostors_accepted.to_series()
    columns = (
        Column("threshold", "threshold"),
        Column("impostors_accepted", "impostors among the accepted"),
    )
    rows = [(Score(threshold), Rate(rate)) for threshold, rate in curve.items()]
    shown = range(0, len(rows), 1 + len(rows) // 6)
    table = Table("accepted", columns, rows, shown=shown)
    blocks = (data_facts(results), table, result_messages(results))
    return Section("accepted-claims", "", blocks, task="verification")
