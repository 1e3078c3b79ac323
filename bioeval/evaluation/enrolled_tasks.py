"""The tasks of a protocol where some templates of each subject are enrolled, and not all."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.messages import Message, message_attrs
from bioeval.evaluation.acceptance import accepted_by
from bioeval.evaluation.listed_verification import listed_verification
from bioeval.evaluation.plan import EvaluationOptions, compared_scores
from bioeval.evaluation.task_plan import runner_of
from bioeval.protocol.card import Protocol, Report
from bioeval.results.dataset import attrs_of_data, tree_of
from bioeval.scores.blocks import threads_for
from bioeval.scores.enrolled import Enrolment
from bioeval.scores.matrix import Scores
from bioeval.tallies.listed_claims import parse_use, scores_in_use
from bioeval.tallies.points import FAR_TARGETS
from bioeval.views.messages import warn_of_kinds

#: Tasks whose people are enrolled.
_TASKS = ("verification", "open_set", "closed_set")


def require_enrolment(scores: Scores, card: Protocol, options: EvaluationOptions) -> None:
    """Raise :class:`ProtocolError` where enrolled templates cannot be chosen."""
    enrol = options.enrol
    if card.has_folds:
        raise ProtocolError(
            Argument("enrol"),
            f" is not for folds or experiments, and protocol {card.name} has them; leave it out, "
            'or enrol by the card: [partition] by = "experiment" has gallery_templates',
        )
    if runner_of(scores) is not None:
        raise ProtocolError(
            Argument("enrol"),
            f" chooses templates of a matrix of scores, and these are {scores.layout}; leave it "
            "out",
        )
    enrolling_nobody = [name for name in card.tasks if name not in _TASKS]
    if enrolling_nobody:
        raise ProtocolError(
            Argument("enrol"),
            f" chooses the templates of enrolled people, and protocol {card.name} evaluates "
            f"{' and '.join(enrolling_nobody)}, which enrol nobody; leave it out",
        )
    if enrol.first:
        return
    if card.verification is None or "multi" not in card.verification.templates:
        raise ProtocolError(
            Argument("enrol"),
            f" is {enrol}: a mean over all choices of templates is for multi-template "
            f"verification, which protocol {card.name} does not evaluate; enrol the first ones, ",
            Argument("enrol", f"first:{enrol}"),
        )
    if card.report.priors != Report().priors:
        raise ProtocolError(
            Argument("enrol"),
            f" is {enrol}: means over all choices of templates have no minDCF; leave it out, or "
            "enrol the first ones, ",
            Argument("enrol", f"first:{enrol}"),
        )
    if card.claims is not None:
        raise ProtocolError(
            Argument("enrol"),
            f" is {enrol}: a mean over all choices of templates is over all claims, and protocol "
            f"{card.name} draws some; enrol the first ones, ",
            Argument("enrol", f"first:{enrol}"),
        )


def enrolled_scores(scores: Scores, card: Protocol, enrol: Enrolment) -> Scores:
    """Return the scores of the first templates of each subject, as the gallery of all tasks.

    Tries of an attempt are not compared with the templates that were enrolled in the same visit.
    """
    attempts = None if card.verification is None else card.verification.attempts
    enrolled = scores_in_use(scores, parse_use(attempts, "multi", "min", str(enrol)))
    pairs = "ordered" if card.verification is None else card.verification.pairs
    if enrolled.layout != scores.layout and pairs != "ordered":
        raise ProtocolError(
            Argument("enrol"),
            f" divides these templates into probes and a gallery, and protocol {card.name} "
            "compares each pair of templates once; leave it out, or give another protocol",
        )
    return enrolled


def averaged_tasks(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Return verification, the mean over all choices of the enrolled templates."""
    task = card.verification
    assert task is not None  # it was required
    scores = compared_scores(scores, card)
    use = parse_use(task.attempts, "multi", task.fusion, options.enrol.number)
    options = options.counted_at(scores.kind, card)
    refused = {
        "frr_targets": options.frr_targets,
        "max_fars": options.max_fars,
        "claims": card.claims,
    }
    targets = options.far_targets
    if targets is None:
        targets = np.array(card.report.far_targets or FAR_TARGETS)
    with threads_for(scores):
        dataset = listed_verification(
            scores,
            use,
            thresholds=options.thresholds,
            extra_thresholds=options.extra_thresholds,
            far_targets=targets,
            limits=options.interval,
            unsupported=refused,
        )
    dataset = accepted_by(warn_of_kinds(dataset), scores.kind, options.accept)
    ranks = " ".join(map(str, card.report.ranks))
    dataset = dataset.assign_attrs(protocol=card.name, report_ranks=ranks, **attrs_of_data(scores))
    if any(name != "verification" for name in card.tasks):
        message = Message("averaged-verification-alone", templates=options.enrol.number)
        dataset = dataset.assign_attrs(message_attrs([message], dataset.attrs))
    return tree_of({"verification/multi": dataset})
