"""Simulated scores and embeddings of people with known true error rates."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_number
from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.kinds import PlainKind
from bioeval.base.memory import require_memory
from bioeval.base.random import RandomState, Stream
from bioeval.scores.embeddings import Metric
from bioeval.scores.matrix import Scores
from bioeval.scores.simulation.population import (
    BLOCK,
    FEWER,
    OFFSETS,
    SCORES,
    Counts,
    Design,
    Population,
    PopulationLayout,
    draw_design,
    draw_embeddings,
)

Model = Literal["gaussian-embeddings", "gaussian-scores"]
MODELS: tuple[Model, ...] = get_args(Model)


def simulate(
    n_subjects: int = 100,
    n_templates: Counts = 10,
    *,
    model: Model = "gaussian-embeddings",
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int | float = 0,
    kind: PlainKind = "distance",
    dimensions: int | None = None,
    between: float | None = None,
    within: Any = None,
    metric: Metric | None = None,
    sessions: int | None = None,
    session_sd: float | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    d_prime: float | None = None,
    genuine_sd: float | None = None,
    goat_sd: float | None = None,
    wolf_sd: float | None = None,
    lamb_sd: float | None = None,
    first_subject: int = 1,
    random_state: RandomState = 0,
) -> Scores:
    """Simulate the scores of a population whose true rates are known.

    Parameters
    ----------
    n_subjects : int
        Enrolled subjects.
    n_templates : int, (low, high) or list of int
        Templates of each subject: 5, a range to draw from, or a list. The same number for all; a
        tuple of two, from which each subject's number is drawn, both ends included; or a list with
        each subject's number.
    model : {"gaussian-embeddings", "gaussian-scores"}
        Draw embeddings and compare them, or draw each score. ``"gaussian-embeddings"``: each person
        is a cloud of points, and points are compared. Attempts of one person are correlated, as
        they are in real data. ``"gaussian-scores"``: every score is drawn by itself, genuine and
        impostor scores from a normal distribution each. Every rate then has a closed form.
    layout : {"all-against-all", "probe-against-gallery"}
        Layout of the scores.
    probes : int, (low, high) or list of int
        Probes of each person, for probe-against-gallery; 5 by default. Given as `n_templates` is, a
        list with the enrolled subjects first.
    unenrolled : int or float
        People who only probe: their number, or a fraction of the subjects. For
        probe-against-gallery (at least one then). They come on top of the subjects and are never in
        the gallery.
    kind : {"distance", "similarity"}
        Kind of the scores. ``"similarity"`` for gaussian-scores only: the exact mirror image of the
        distances.
    dimensions : int
        Dimensions of the embeddings; 16 by default. This and the next three: gaussian-embeddings
        only.
    between : float
        Standard deviation of the persons' centres, in each dimension; 1 unless given.
    within : float or list of float
        Standard deviation of a person's templates around the centre, in each dimension; 0.6
        unless given. A list gives each person's own (goats are large, sheep are small).
    metric : str or callable
        As for :meth:`Scores.from_embeddings`; ``"l2"`` unless given.
    sessions : int
        Number of days on which everyone was seen; adds the metadata column ``session``, from 1.
        All against all, a person's templates take the sessions in turn. In probe-against-gallery
        session 1 enrols and the later sessions probe.
    session_sd : float
        Standard deviation of the person's offset of the day, in each dimension; 0.3 unless given.
        gaussian-embeddings only.
    cameras : int
        Number of cameras; adds the metadata column ``camera``, from 1. Cameras are taken in turn
        within each session, the probes of a person going on where the templates ended.
    camera_sd : float
        Standard deviation of a camera's offset, the same for all its pictures, in each dimension;
        0.3 unless given. gaussian-embeddings only.
    d_prime : float
        Decidability: the distance of genuine and impostor mean, over the root of the mean
        variance; 2 unless given. This and the next four: gaussian-scores only.
    genuine_sd : float
        Standard deviation of genuine scores, where impostor scores are N(0, 1); 1 unless given.
    goat_sd, wolf_sd, lamb_sd : float
        Standard deviations of normal offsets of each person, 0 unless given: all genuine scores of
        a goat are farther, all scores of a wolf's probes against others nearer, and all scores of
        others' probes against a lamb nearer. The closed forms are without them.
    first_subject : int
        Number of the first subject, the same for files of the same people. Two sets with the same
        numbers are of the same people, as two systems are; another one, as 1001, makes other
        people.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        Seed of the draws. The same integer gives the same embeddings, or scores of gaussian-scores,
        bit for bit on every platform. (Distances of embeddings are computed from them by the
        metric, and may differ in the last digit.) None gives another population each time.

    Returns
    -------
    Scores
        Labels are integers from `first_subject`.

    Raises
    ------
    DataError
        If an argument is outside its range, or belongs to the other model or layout.

    See Also
    --------
    simulate_embeddings : the embeddings themselves.

    Notes
    -----
    With Phi the normal distribution function, gaussian-scores with equal variances have the EER
    Phi(-d'/2) and the AUC Phi(d'/sqrt(2)). A squared distance of gaussian-embeddings has D degrees
    of freedom of chi-square: GAR(t) is that of t^2 / (2 w^2), FAR(t) of t^2 / (2 (w^2 + b^2)), w
    and b being `within` and `between`.

    Scores of gaussian-scores are float32, independent from cell to cell, ``(i, j)`` from
    ``(j, i)`` too; they may be negative, as only their order matters. Sessions and cameras are
    labels without an effect there.

    Subjects of gaussian-embeddings differ: a subject near the common centre is near to all others,
    and :func:`bioeval.zoo` finds it as a wolf and a lamb. Subjects of gaussian-scores are alike
    unless `goat_sd`, `wolf_sd` or `lamb_sd` is above 0.

    Examples
    --------
    >>> import bioeval as be
    >>> be.simulate(n_subjects=20, n_templates=4).shape
    (80, 80)

    Everyone enrols once and probes twice, beside 5 people who are not enrolled:

    >>> scores = be.simulate(
    ...     20, 1, layout="probe-against-gallery", probes=2, unenrolled=5,
    ...     model="gaussian-scores", d_prime=3.0, random_state=1,
    ... )
    >>> scores.shape
    (50, 20)
    """
    require_choice("model", model, MODELS)
    require_choice("kind", kind, get_args(PlainKind))
    of_people: dict[str, Any] = {
        "n_subjects": n_subjects,
        "n_templates": n_templates,
        "layout": layout,
        "probes": probes,
        "unenrolled": unenrolled,
        "sessions": sessions,
        "cameras": cameras,
        "first_subject": first_subject,
        "random_state": random_state,
    }
    of_embeddings = {
        "dimensions": dimensions,
        "between": between,
        "within": within,
        "metric": metric,
        "session_sd": session_sd,
        "camera_sd": camera_sd,
    }
    animals = {"goat_sd": goat_sd, "wolf_sd": wolf_sd, "lamb_sd": lamb_sd}
    of_scores = {"d_prime": d_prime, "genuine_sd": genuine_sd, **animals}
    options, refused, other = of_embeddings, of_scores, MODELS[1]
    if model == "gaussian-scores":
        options, refused, other = of_scores, of_embeddings, MODELS[0]
    for name, value in refused.items():
        if value is not None:
            raise DataError(
                f"{Argument(name)} is {received(value)}, an option of model {other!r}, not of "
                f"{model!r}"
            )
    options_given = {name: value for name, value in options.items() if value is not None}
    if model == "gaussian-scores":
        shifts = {name: options_given.pop(name, 0.0) for name in animals}
        return _gaussian_scores(draw_design(**of_people), kind, shifts, **options_given)
    if kind != "distance":
        raise DataError(
            f"{Argument('kind')} is {received(kind)}; embeddings are compared by distances. "
            f"Expected 'distance', or {Argument('model', 'gaussian-scores')}"
        )
    options_given.pop("metric", None)
    population = simulate_embeddings(**of_people, **options_given)
    return population.scores("l2" if metric is None else metric)


def simulate_embeddings(
    n_subjects: int = 100,
    n_templates: Counts = 10,
    *,
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int | float = 0,
    dimensions: int = 16,
    between: float = 1.0,
    within: Any = 0.6,
    sessions: int | None = None,
    session_sd: float | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    first_subject: int = 1,
    random_state: RandomState = 0,
) -> Population:
    """Simulate the embeddings of a population: person + session + camera + noise.

    Parameters
    ----------
    n_subjects, n_templates, layout, probes, unenrolled, dimensions, between, within, sessions, \
session_sd, cameras, camera_sd, first_subject, random_state
        As for :func:`simulate`.

    Returns
    -------
    Population
        ``embeddings`` (float32), ``labels``, ``enrolled``, ``meta`` and the true ``centres``;
        its method ``scores(metric)`` compares them.

    Raises
    ------
    DataError
        If an argument is outside its range.

    Examples
    --------
    >>> import bioeval as be
    >>> population = be.simulate_embeddings(3, 2, dimensions=4, sessions=2)
    >>> population.embeddings.shape, population.labels.tolist()
    ((6, 4), [1, 1, 2, 2, 3, 3])
    >>> population.meta["session"].tolist()
    [1, 2, 1, 2, 1, 2]
    """
    design = draw_design(
        n_subjects,
        n_templates,
        layout,
        probes,
        unenrolled,
        sessions,
        cameras,
        first_subject,
        random_state,
    )
    offsets = {
        "session_sd": _offset_sd("session_sd", session_sd, "sessions", sessions),
        "camera_sd": _offset_sd("camera_sd", camera_sd, "cameras", cameras),
    }
    return draw_embeddings(design, dimensions, between, within, **offsets)


def _offset_sd(name: str, sd: float | None, things: str, number: int | None) -> float:
    """Return the spread of sessions or of cameras; none without them, 0.3 unless given."""
    if number is None and sd is not None:
        raise DataError(f"{name} is {received(sd)} without {things}; expected both or neither")
    if number is None:
        return 0.0
    if sd is None:
        return 0.3
    return sd


def _gaussian_scores(
    design: Design,
    kind: PlainKind,
    animals: dict[str, float],
    d_prime: float = 2.0,
    genuine_sd: float = 1.0,
) -> Scores:
    """Draw scores; `animals` are the spreads of the offsets of goats, wolves and lambs."""
    require_number("d_prime", d_prime, low=0.0)
    require_number("genuine_sd", genuine_sd, above=0.0)
    goat, wolf, lamb = (
        require_number(name, sd, low=0.0) * Stream(design.seed, key).normals(design.people)
        for key, (name, sd) in enumerate(animals.items(), OFFSETS)
    )
    shift = d_prime * float(np.sqrt((1.0 + genuine_sd * genuine_sd) / 2.0))
    rows = design.gallery if design.probes is None else design.probes
    columns = design.gallery
    size = f"{len(rows):,} x {len(columns):,} scores"
    require_memory(4 * len(rows) * len(columns), size, FEWER)
    values = np.empty((len(rows), len(columns)), dtype=np.float32)
    stream = Stream(design.seed, SCORES)
    step = max(1, BLOCK // len(columns))
    for low in range(0, len(rows), step):
        who = rows.person[low : low + step, None]
        distances = stream.normals(len(who), len(columns))
        genuine = who == columns.person
        distances[genuine] = distances[genuine] * genuine_sd - shift
        distances += np.where(genuine, goat[who], -wolf[who] - lamb[columns.person])
        # Of the same draws, a similarity is the negative distance.
        values[low : low + step] = distances if kind == "distance" else -distances
    square = design.probes is None
    return Scores(
        values,
        rows.labels,
        None if square else columns.labels,
        kind=kind,
        probe_meta=rows.meta,
        gallery_meta=None if square else columns.meta,
        name="simulated",
    )
