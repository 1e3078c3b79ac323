"""``be.normalise``: scores normalised by scores against a cohort of other people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import PLURALS
from bioeval.base.messages import Message
from bioeval.counting.thresholds import require_values
from bioeval.scores.joining import without_names
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.requirements import require_all_scores, require_scores
from bioeval.studies.fusion.cohorts import (
    CohortMoments,
    cells_of_matrix,
    cohort_moments,
    in_order_of,
    moments_of_list,
    require_other_people,
)
from bioeval.studies.fusion.several_systems import derived_scores

CohortMethod = Literal["z", "t", "s", "zt", "as"]
METHODS: tuple[CohortMethod, ...] = get_args(CohortMethod)

# By method: the sides of a list whose cohort scores count. Other methods take both.
_SIDES = {"z": (0,), "t": (1,)}


def normalise(
    scores: Scores,
    method: CohortMethod,
    gallery_cohort: Scores | None = None,
    *,
    probe_cohort: Scores | None = None,
    cohort: Scores | None = None,
    top: int | None = None,
) -> Scores:
    """Normalise scores by mean and standard deviation of scores against a cohort.

    Parameters
    ----------
    scores : Scores, shape (m, n)
        A matrix, or a list of pairs that names its templates, such as the trials of speaker
        verification. The first name of a pair is that of the enrolled template, the second that of
        the probe.
    method : {"z", "t", "s", "zt", "as"}
        By cohort scores of the enrolled template, the probe, both, or the closest of both.

        - ``"z"``: by the scores of the gallery template; ``"t"``: of the probe
        - ``"s"``: the mean of both
        - ``"zt"``: Z, then T with probe-cohort scores that are Z-normalised by `cohort`
        - ``"as"``: S with the `top` closest cohort scores of each side (AS-norm1 of Matějka and
          others)
    gallery_cohort : Scores
        Gallery templates against the cohort, either as rows; all but ``"t"`` need it. To normalise
        a list, it has scores of the enrolled templates, a list (:func:`read_cohort`) or a matrix
        whose templates are named by metadata ``template`` or else by their labels.
    probe_cohort : Scores
        Probes against the cohort, either as rows; all but ``"z"`` need it. Where the same
        templates are on both sides of `scores`, one of the two serves for both; of a list always.
    cohort : Scores
        For ``"zt"``: the cohort of `probe_cohort` against a cohort, either as rows; scores of a
        person with himself are left out.
    top : int
        Number of closest cohort scores of each template, for method ``"as"``.

    Returns
    -------
    Scores
        Scores of the same kind; log-likelihood ratios become similarities.

    Raises
    ------
    DataError
        If a cohort is missing, is not over the same templates, shares a subject with the data, or
        has too few finite scores of a template or none that differ.
    ProtocolError
        If the scores are pairs without names, top-K lists, or an order only.

    Notes
    -----
    Mean and standard deviation (``ddof = 0``) are of finite scores.

    - Z, T and ZT: Auckenthaler, R., Carey, M., Lloyd-Thomas, H. (2000). Score normalization for
      text-independent speaker verification systems. *Digital Signal Processing* 10, 42-54.
    - S: Kenny, P. (2010). Bayesian speaker verification with heavy-tailed priors. *Odyssey*.
    - AS: Matějka, P., and others (2017). Analysis of score normalization in multilingual speaker
      recognition. *Interspeech*, 1567-1571.

    Examples
    --------
    >>> import bioeval as be
    >>> everyone = be.simulate(30, 3, random_state=1)
    >>> data, others = range(60), range(60, 90)
    >>> scores, cohort = everyone.select(data, data), everyone.select(data, others)
    >>> normalised = be.normalise(scores, "s", cohort)
    >>> normalised.shape, normalised.kind
    ((60, 60), 'distance')

    A list of trials, and the scores of their recordings against a cohort:

    >>> trials = be.Scores.from_pairs([0.7, 0.2], [1, 0], kind="similarity",
    ...     pair_templates=[["a1", "a2"], ["a1", "b1"]])
    >>> cohort = be.Scores([[0.1, 0.3], [0.2, 0.4], [0.0, 0.1]], ["a1", "a2", "b1"], ["c", "d"],
    ...     kind="similarity")
    >>> be.normalise(trials, "s", cohort).values.round(2)
    array([4.5, 1.5])
    """
    require_choice("method", method, METHODS)
    require_scores(scores)
    if scores.layout == "pairs":
        if cohort is not None or method == "zt":
            raise ProtocolError(
                "ZT-norm is of a matrix, with the cohort against itself; a list of pairs has z, t, "
                "s and as"
            )
        _refuse_unused(method, cohort, top)
        return _normalised_list(scores, method, gallery_cohort, probe_cohort, top)
    _require_matrix(scores, scores, "scores")
    cohorts = {"gallery_cohort": gallery_cohort, "probe_cohort": probe_cohort, "cohort": cohort}
    for input_name, cohort_scores in cohorts.items():
        if cohort_scores is not None:
            _require_matrix(cohort_scores, scores, input_name)
    _refuse_unused(method, cohort, top)
    if np.array_equal(scores.probe_ids, scores.gallery_ids):
        gallery_cohort = gallery_cohort or probe_cohort
        probe_cohort = probe_cohort or gallery_cohort
    top = require_integer("top", top, low=2) if top is not None else None
    sides = _SidesOfMatrix(scores, method, top)
    scales: list[Scale] = []
    if method != "t":
        gallery_moments = sides.moments("gallery", gallery_cohort)
        scales.append(lambda _: gallery_moments)
    if method != "z":
        probe_moments = sides.moments("probe", probe_cohort, cohort)
        scales.append(lambda rows: probe_moments.of_templates((rows, None)))
    return _normalised(scores, method, scales).with_remarks(*sides.remarks)


@dataclass
class _SidesOfMatrix:
    """The two sides of a matrix that is normalised by cohorts."""

    scores: Scores
    method: CohortMethod
    top: int | None
    #: Messages on templates without names, in order.
    remarks: dict[Message, None] = field(default_factory=dict)

    def moments(
        self,
        role: Literal["gallery", "probe"],
        cohort_scores: Scores | None,
        cohort: Scores | None = None,
    ) -> CohortMoments:
        """Return the moments of a side's templates, from their scores against a cohort.

        In ZT-norm, the scores of probes are Z-normalised, by the scores of the `cohort` itself.
        """
        scores, name = self.scores, f"{role}_cohort"
        labels, names = scores.gallery_labels, scores.gallery_names
        if role == "probe":
            labels, names = scores.probe_labels, scores.probe_names
        noun = f"the {role} templates of the scores"
        values, people = self._against_cohort(name, cohort_scores, labels, names, noun)
        if role == "probe" and self.method == "zt":
            noun = "the cohort of probe_cohort"
            values_of_cohort, _ = self._against_cohort("cohort", cohort, people, None, noun)
            moments = cohort_moments(values_of_cohort, None, scores.kind, "cohort", people)
            values = (values - moments.mean) / moments.sd
        return cohort_moments(values, self.top, scores.kind, name, labels)

    def _against_cohort(
        self,
        input_name: str,
        cohort_scores: Scores | None,
        labels: np.ndarray,
        names: Any,
        noun: str,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of templates against a cohort, and the people of the cohort.

        The scores are (templates, cohort); `labels` and `names` are the templates', which errors
        call `noun`.
        """
        if cohort_scores is None:
            raise DataError(f'`{input_name}` is missing; `method="{self.method}"` needs it')
        ordered = in_order_of(names, cohort_scores, f"`{input_name}`")
        by_rows = _templates_are_rows(input_name, ordered, labels.tolist(), noun)
        people = ordered.gallery_labels if by_rows else ordered.probe_labels
        own = ordered.probe_names if by_rows else ordered.gallery_names
        remarks = without_names(names, own, ("the scores", input_name))
        self.remarks.update(dict.fromkeys(remarks))
        everyone = {*self.scores.probe_labels.tolist(), *self.scores.gallery_labels.tolist()}
        require_other_people(people.tolist(), everyone, f"the cohort of {input_name}", "the data")
        return cells_of_matrix(ordered, by_rows, input_name), people


#: A function that returns the moments by which scores of rows are normalised.
Scale = Callable[[np.ndarray], CohortMoments]


def _normalised(scores: Scores, method: str, scales: Sequence[Scale]) -> Scores:
    """Return scores normalised by both sides in turn (ZT-norm), or by the mean over the sides."""

    def rule(blocks: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
        normalised: list[np.ndarray] = []
        for scale in scales:
            mean, sd = scale(rows)
            values = normalised.pop() if normalised and method == "zt" else blocks[0]
            normalised.append((values - mean) / sd)
        return normalised[0] if len(normalised) == 1 else (normalised[0] + normalised[1]) / 2

    origin = scores.origin or PLURALS[scores.kind]
    return derived_scores([scores], rule, scores.kind, f"{method}-norm of {origin}")


def _normalised_list(
    scores: Scores,
    method: str,
    enrolled_cohort: Scores | None,
    probe_cohort: Scores | None,
    top: int | None,
) -> Scores:
    require_values(scores, "score normalisation")
    if scores.pairs.templates is None:
        raise ProtocolError(
            "the pairs do not name their templates, and score normalisation finds the scores of a "
            "template against the cohort by its name; give a list with both names on each line, or "
            "pair_templates= to Scores.from_pairs"
        )
    top = None if top is None else require_integer("top", top, low=2)
    enrolled_cohort = enrolled_cohort or probe_cohort
    if enrolled_cohort is None:
        raise DataError(
            f'`gallery_cohort` is missing; `method="{method}"` needs the '
            "scores of the templates against a cohort"
        )
    cohorts = enrolled_cohort, probe_cohort or enrolled_cohort
    moments = [moments_of_list(scores, i, cohorts[i], top) for i in _SIDES.get(method, (0, 1))]
    normalised = _normalised(scores, method, [side.of_templates for side in moments])
    if all(map(knows_people, (scores, *cohorts))):
        return normalised
    return normalised.with_remarks(Message("people-of-cohort-not-known"))


def _require_matrix(cohort: Scores | None, scores: Scores, input_name: str) -> None:
    require_scores(cohort, input_name)
    assert cohort is not None
    require_all_scores(cohort)
    require_values(cohort, "score normalisation")
    if cohort.layout == "pairs" or not knows_people(cohort):
        raise ProtocolError(
            f"{input_name} is "
            f"{'a list of pairs' if cohort.layout == 'pairs' else 'without labels'}; "
            "score normalisation needs a matrix with the subjects of both sides"
        )
    if cohort.kind != scores.kind:
        raise DataError(
            f"{input_name} holds {PLURALS[cohort.kind]}, and the scores are "
            f"{PLURALS[scores.kind]}; expected scores of one system"
        )


def _refuse_unused(method: str, cohort: Scores | None, top: int | None) -> None:
    for name, value, needs in (("cohort", cohort, "zt"), ("top", top, "as")):
        if (value is not None) != (method == needs):
            presence = "is missing" if value is None else "is given"
            raise DataError(
                f"`{name}` {presence}, and `method` is {received(method)}; "
                f'expected it with `method="{needs}"`, and only with it'
            )


def _templates_are_rows(input_name: str, cohort: Scores, labels: list[Any], over: str) -> bool:
    probes, gallery = cohort.probe_labels.tolist(), cohort.gallery_labels.tolist()
    if labels in (probes, gallery):
        return probes == labels
    if len(labels) not in cohort.shape:
        raise DataError(
            f"{input_name} has shape {cohort.shape}, and neither side is {over}: {len(labels)} "
            "expected"
        )
    side = probes if len(probes) == len(labels) else gallery
    i = next(i for i, pair in enumerate(zip(side, labels, strict=True)) if pair[0] != pair[1])
    raise DataError(
        f"the labels of {input_name} are not those of {over}: they first differ at template {i} "
        f"({side[i]!r}, and {labels[i]!r} expected)"
    )
