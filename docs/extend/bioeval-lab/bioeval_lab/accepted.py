"""How many of the accepted claims are impostors'?"""

import numpy as np

import bioeval as be
from bioeval.base import Name, require_number
from bioeval.results import DataHeader, Table, Warnings, along, build, percent, threshold_text

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
    attrs = {**rates.attrs, "task": "accepted claims", "impostors": impostors}
    found = along(("threshold",), impostors_accepted=rate)
    return build(found, NAMES, {"threshold": rates.threshold.values}, attrs)


def blocks(results):
    """Yield the parts of the printed table."""
    (result,) = results.values()
    yield DataHeader(results)
    some = result.impostors_accepted[:: 1 + result.threshold.size // 6].to_series()
    rows = [(threshold_text(threshold), percent(rate)) for threshold, rate in some.items()]
    yield Table(("threshold", "impostors among the accepted"), rows)
    yield Warnings(results)
