"""Populations with known truth, to teach with, to test with and to measure speed on.

Every part of a population has its own stream of random numbers, so that two populations of the same
seed differ only where their arguments do: more templates, more noise or another camera leave the
persons as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import (
    require_array,
    require_choice,
    require_integer,
    require_number,
    require_numbers,
)
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import VALUED, Layout, ValuedKind
from bioeval.base.options import require_memory, row_spans
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.scores.matrix import Scores

Model = Literal["gaussian-embeddings", "gaussian-scores"]
MODELS: tuple[Model, ...] = get_args(Model)

# The options of one model alone.
_ANIMALS = ("goat_sd", "wolf_sd", "lamb_sd")
_OPTIONS: dict[Model, tuple[str, ...]] = {
    "gaussian-embeddings": ("dimensions", "within", "camera_sd"),
    "gaussian-scores": ("d_prime", *_ANIMALS),
}

# Keys of the streams of random numbers. They never change, since every population would change.
_CENTRES, _SESSIONS, _CAMERAS, _TEMPLATE_NOISE, _PROBE_NOISE, _SCORES = 2, 3, 4, 5, 6, 7

# The key of the offsets of goats; the offsets of wolves have the next key, and of lambs the third.
_OFFSETS = 8

# The standard deviation of the offsets of sessions, and by default of cameras, in each dimension.
_OFFSET_SD = 0.3

# The largest standard deviation: beyond it, distances of float32 embeddings overflow.
_MOST_SD = 1e15

# Random numbers that are drawn together: 8 MiB of float64.
_DRAWN_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Population:
    """Embeddings of a population with known truth.

    Attributes
    ----------
    embeddings : ndarray of float32, shape (n, dimensions)
        One row a template: the gallery's first, then the probes', each sorted by person.
    labels : ndarray of int64, shape (n,)
        The person of each row, by number, enrolled subjects first.
    enrolled : ndarray of bool, shape (n,)
        Whether the row is a gallery template; all are in an all-against-all layout.
    meta : dict of str to ndarray of int64
        ``session`` and ``camera`` of each row, where there are any.
    centres : ndarray of float64, shape (people, dimensions)
        Where each person's templates scatter around, without sessions and cameras.
    layout : str
    """

    embeddings: np.ndarray
    labels: np.ndarray
    enrolled: np.ndarray
    meta: dict[str, np.ndarray]
    centres: np.ndarray
    layout: Layout

    def scores(self, metric: Any = "l2") -> Scores:
        """Compare the embeddings.

        Parameters
        ----------
        metric : str or callable
            As for :meth:`bioeval.Scores.from_embeddings`; the closed forms hold for ``"l2"``.

        Returns
        -------
        Scores
            Distances of each template to all, or of each probe to the gallery.
        """
        rows: Any = slice(None)
        gallery = {}
        if self.layout != "all-against-all":
            enrolled = self.enrolled
            rows = ~enrolled
            gallery = {
                "gallery": self.embeddings[enrolled],
                "gallery_labels": self.labels[enrolled],
                "gallery_meta": {k: column[enrolled] for k, column in self.meta.items()},
            }
        return Scores.from_embeddings(
            self.embeddings[rows],
            self.labels[rows],
            metric=metric,
            kind="distance",
            probe_meta={name: column[rows] for name, column in self.meta.items()},
            name="simulated",
            **gallery,
        )


def simulate(
    n_subjects: int = 100,
    n_templates: Counts = 10,
    *,
    model: Model = "gaussian-embeddings",
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int = 0,
    kind: ValuedKind = "distance",
    dimensions: int | None = None,
    within: Any = None,
    sessions: int | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    d_prime: float | None = None,
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
        Templates of each subject: 5, a range to draw from, or a list.

        - an int: the same number for all
        - a tuple of two: each subject's number is drawn from this range, both ends included
        - a list: each subject's number
    model : {"gaussian-embeddings", "gaussian-scores"}
        Draw embeddings and compare them, or draw each score.

        - ``"gaussian-embeddings"``: each person is a cloud of points, and points are compared.
          Attempts of one person are correlated, as they are in real data.
        - ``"gaussian-scores"``: every score is drawn by itself, genuine and impostor scores from a
          normal distribution each. Every rate then has a closed form.
    layout : {"all-against-all", "probe-against-gallery"}
        Layout of the scores.
    probes : int, (low, high) or list of int, default: 5
        Probes of each person, for probe-against-gallery. As for `n_templates`; a list has the
        enrolled subjects first.
    unenrolled : int
        People who only probe, for probe-against-gallery. They come on top of the subjects and are
        never in the gallery.
    kind : {"distance", "similarity"}
        Kind of the scores. ``"similarity"`` for gaussian-scores only: the exact mirror image of the
        distances.
    dimensions : int, default: 16
        Dimensions of the embeddings. This and the next one: gaussian-embeddings only. In each
        dimension, the persons' centres have a standard deviation of 1.
    within : float or list of float, default: 0.6
        Standard deviation of a person's templates around the centre, in each dimension. A list
        gives each person's own (goats are large, sheep are small).
    sessions : int
        Number of days on which everyone was seen; adds the metadata column ``session``, from 1.
        All against all, a person's templates take the sessions in turn. In probe-against-gallery
        session 1 enrols and the later sessions probe. A person's embeddings have an offset of the
        day, with a standard deviation of 0.3 in each dimension.
    cameras : int
        Number of cameras; adds the metadata column ``camera``, from 1. Cameras are taken in turn
        within each session, the probes of a person going on where the templates ended.
    camera_sd : float, default: 0.3
        Standard deviation of a camera's offset, the same for all its pictures, in each dimension.
        It applies to gaussian-embeddings only.
    d_prime : float, default: 2
        Decidability: the distance of genuine and impostor mean, over the root of the mean
        variance, 1. This and the next three: gaussian-scores only.
    goat_sd, wolf_sd, lamb_sd : float, default: 0
        Standard deviation of a normal offset of each person: all genuine scores of a goat are
        farther, all scores of a wolf's probes against other people nearer, and all scores of other
        people's probes against a lamb nearer. The closed forms are without these offsets.
    first_subject : int
        Number of the first subject, the same for files of the same people. Two sets with the same
        numbers are of the same people, as two systems are; another number, such as 1001, makes
        other people.
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
    With Phi the normal distribution function, gaussian-scores have the EER Phi(-d'/2) and the AUC
    Phi(d'/sqrt(2)). With F the distribution function of chi-square with `dimensions` degrees of
    freedom and w `within`, gaussian-embeddings, whose scores are the distances ``"l2"``, have
    GAR(t) = F(t^2 / (2 w^2)) and FAR(t) = F(t^2 / (2 (w^2 + 1))).

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
    require_choice("kind", kind, VALUED)
    options: dict[str, Any] = {
        "dimensions": dimensions,
        "within": within,
        "camera_sd": camera_sd,
        "d_prime": d_prime,
        "goat_sd": goat_sd,
        "wolf_sd": wolf_sd,
        "lamb_sd": lamb_sd,
    }
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in _OPTIONS[model]:
            other_model = next(x for x in MODELS if x != model)
            raise DataError(
                f"`{name}` is {received(value)}, an option of model {other_model!r}, not of "
                f"{model!r}"
            )
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
    if model == "gaussian-embeddings":
        if kind != "distance":
            raise DataError(
                f"`kind` is {received(kind)}; embeddings are compared by distances. "
                'Expected "distance", or `model="gaussian-scores"`'
            )
        return simulate_embeddings(**of_people, **given).scores()

    # Each score is drawn by itself.
    people, seed, sides = _samples_of_people(**of_people)
    d_prime = require_number("d_prime", given.get("d_prime", 2.0), low=0.0)
    goat, wolf, lamb = (
        require_number(name, given.get(name, 0.0), low=0.0) * Stream(seed, key).normals(people)
        for key, name in enumerate(_ANIMALS, _OFFSETS)
    )
    rows, columns = sides[-1], sides[0]
    size = f"{len(rows):,} x {len(columns):,} scores"
    require_memory(4 * len(rows) * len(columns), size, FEWER)
    values = np.empty((len(rows), len(columns)), dtype=np.float32)
    stream = Stream(seed, _SCORES)
    for low, high in row_spans(len(rows), len(columns), _DRAWN_AT_ONCE):
        person = rows.person[low:high, None]
        distances = stream.normals(len(person), len(columns))
        genuine = person == columns.person
        distances[genuine] -= d_prime
        distances += np.where(genuine, goat[person], -wolf[person] - lamb[columns.person])
        # With the same seed, similarities are exactly the negative distances.
        values[low:high] = distances if kind == "distance" else -distances
    gallery: dict[str, Any] = {}
    if len(sides) > 1:
        gallery = {"gallery_labels": columns.labels, "gallery_meta": columns.meta}
    return Scores(values, rows.labels, kind=kind, probe_meta=rows.meta, name="simulated", **gallery)


def simulate_embeddings(
    n_subjects: int = 100,
    n_templates: Counts = 10,
    *,
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int = 0,
    dimensions: int = 16,
    within: Any = 0.6,
    sessions: int | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    first_subject: int = 1,
    random_state: RandomState = 0,
) -> Population:
    """Simulate the embeddings of a population: person + session + camera + noise.

    Parameters
    ----------
    n_subjects, n_templates, layout, probes, unenrolled, dimensions, within, sessions, cameras, \
camera_sd, first_subject, random_state
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
    people, seed, sides = _samples_of_people(
        n_subjects=n_subjects,
        n_templates=n_templates,
        layout=layout,
        probes=probes,
        unenrolled=unenrolled,
        sessions=sessions,
        cameras=cameras,
        first_subject=first_subject,
        random_state=random_state,
    )
    dimensions = require_integer("dimensions", dimensions, low=1)
    try:
        sd_within = require_numbers("within", within)
    except DataError:
        sd_within = np.array(np.nan)
    if sd_within.ndim > 1 or not ((sd_within >= 0.0) & (sd_within <= _MOST_SD)).all():
        raise DataError(f"`within` is {received(within)}; expected numbers in [0, {_MOST_SD:g}]")
    if sd_within.ndim == 1 and len(sd_within) != people:
        raise DataError(
            f"`within` has {counted(len(sd_within), 'values')}; expected 1, or {people}, one per "
            "person"
        )
    sd_within = np.broadcast_to(sd_within, (people,))
    if cameras is None and camera_sd is not None:
        raise DataError(
            f"camera_sd is {received(camera_sd)} without cameras; expected both or neither"
        )
    sd = _OFFSET_SD if camera_sd is None else camera_sd
    sd_of_cameras = require_number("camera_sd", sd, low=0.0, high=_MOST_SD)

    # The means of which a template is the sum, besides its noise.
    samples, session_count = sum(map(len, sides)), sessions or 1
    # Centres and offsets take 8 bytes a feature; embeddings 4, and 8 more when they are compared.
    bytes_per_dimension = 8 * people * (1 + session_count) + 16 * samples
    needed = bytes_per_dimension * dimensions + TEMPLATE_BYTES * samples
    require_memory(needed, f"embeddings of {samples:,} templates", FEWER)
    centres = Stream(seed, _CENTRES).normals(people, dimensions)
    session_offsets = Stream(seed, _SESSIONS).normals(people, session_count, dimensions)
    session_offsets *= 0.0 if sessions is None else _OFFSET_SD
    camera_offsets = Stream(seed, _CAMERAS).normals(cameras or 1, dimensions)
    camera_offsets *= 0.0 if cameras is None else sd_of_cameras

    embeddings = np.empty((samples, dimensions), dtype=np.float32)
    begin = 0  # of a side
    for side, key in zip(sides, (_TEMPLATE_NOISE, _PROBE_NOISE), strict=False):
        noise = Stream(seed, key)
        ones = np.ones(len(side), dtype=np.int64)
        session = side.meta.get("session", ones) - 1
        camera = side.meta.get("camera", ones) - 1
        for low, high in row_spans(len(side), dimensions, _DRAWN_AT_ONCE):
            person = side.person[low:high]
            block = sd_within[person, None] * noise.normals(len(person), dimensions)
            # The last digits depend on the order of these additions.
            block += centres[person]
            block += session_offsets[person, session[low:high]]
            block += camera_offsets[camera[low:high]]
            embeddings[begin + low : begin + high] = block
        begin += len(side)
    return Population(
        embeddings=embeddings,
        labels=np.concatenate([side.labels for side in sides]),
        enrolled=np.arange(samples) < len(sides[0]),
        meta={x: np.concatenate([side.meta[x] for side in sides]) for x in sides[0].meta},
        centres=centres,
        layout=layout,
    )


# ----------------------------------------------------------------------------- people and samples


PopulationLayout = Literal["all-against-all", "probe-against-gallery"]
SQUARE, OBLONG = get_args(PopulationLayout)

#: The same count for everyone, a range (low, high), or a count for each person.
Counts = int | tuple[int, int] | Sequence[int] | np.ndarray

#: Bytes of a template besides its features: person, labels, and temporary arrays.
TEMPLATE_BYTES = 64

#: Advice where a population does not fit into memory.
FEWER = "expected fewer subjects or templates"

# Keys of further streams of random numbers.
_TEMPLATE_COUNTS, _PROBE_COUNTS = 0, 1


@dataclass(frozen=True, eq=False)
class _Samples:
    """The samples of a side, sorted by person; all arrays are (samples,)."""

    person: np.ndarray  # numbered from 0, enrolled people first
    meta: dict[str, np.ndarray]
    #: Numbers of subjects, above 0: in re-identification 0 and -1 are distractors and junk.
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.person)


def _samples_of_people(
    *,
    n_subjects: int,
    n_templates: Counts,
    layout: PopulationLayout,
    probes: Counts | None,
    unenrolled: int,
    sessions: int | None,
    cameras: int | None,
    first_subject: int,
    random_state: RandomState,
) -> tuple[int, np.random.SeedSequence, list[_Samples]]:
    """Return the number of people, the seed, and the samples of the gallery and of the probes.

    The arguments are of :func:`bioeval.simulate`; of all against all there is one side.
    """
    seed = seed_sequence(random_state)
    subjects = require_integer("n_subjects", n_subjects, low=1)
    require_integer("first_subject", first_subject, low=1, high=2**52)
    require_choice("layout", layout, PopulationLayout)
    for name, value in (("sessions", sessions), ("cameras", cameras)):
        if value is not None:
            require_integer(name, value, low=1, high=2**31)
    people = subjects + require_integer("unenrolled", unenrolled, low=0)
    # Each person has three numbers of 8 bytes at least: of templates, a label and a row.
    require_memory(24 * people, f"{people:,} subjects", FEWER)
    stream = Stream(seed, _TEMPLATE_COUNTS)
    templates = _counts("n_templates", n_templates, subjects, 1, stream)
    none = np.zeros(people, dtype=np.int64)
    last_session = sessions or 1

    def samples(counts: np.ndarray, earlier: np.ndarray, first: int, last: int) -> _Samples:
        """Give the samples of each person the sessions `first` to `last` and the cameras, in turn.

        `counts` (people,) are the numbers of samples, `earlier` of those that had a camera already.
        """
        total = int(counts.sum(dtype=np.float64))
        require_memory(TEMPLATE_BYTES * total, f"{total:,} templates", FEWER)
        person = np.repeat(np.arange(len(counts)), counts)
        index_in_person = np.arange(len(person)) - (np.cumsum(counts) - counts)[person]
        first = min(first, last)
        session_count = last - first + 1
        meta = {}
        if sessions is not None:
            meta["session"] = first + index_in_person % session_count
        if cameras is not None:
            samples_before = earlier[person] + index_in_person // session_count
            meta["camera"] = 1 + samples_before % cameras
        return _Samples(person, meta, person + first_subject)

    if layout == SQUARE:
        if probes is not None:
            raise DataError(
                f"`probes` is {received(probes)}; in layout 'all-against-all' every "
                f'template is a probe. Expected `layout="{OBLONG}"` with it'
            )
        if people > subjects:
            raise DataError(
                f"unenrolled is {received(unenrolled)}; in layout 'all-against-all' everyone is "
                "enrolled. Expected 0, or layout='probe-against-gallery'"
            )
        return people, seed, [samples(templates, none, 1, last_session)]
    stream = Stream(seed, _PROBE_COUNTS)
    counts = _counts("probes", 5 if probes is None else probes, people, 0, stream)
    if not counts.any():
        raise DataError("`probes` is 0 for everyone; expected at least one probe")
    gallery = samples(templates, none, 1, 1)
    enrolled = np.append(templates, none[subjects:])
    return people, seed, [gallery, samples(counts, enrolled, 2, last_session)]


def _counts(name: str, value: Any, people: int, low: int, stream: Stream) -> np.ndarray:
    """Return the count of each person, int64 (people,), at least `low`."""
    expected = (
        f"expected an integer >= {low}, a range (low, high) of them, or a list of {people} counts"
    )
    array = require_array(name, value)
    if array.dtype.kind not in "iu" or array.ndim > 1 or array.size == 0 or (array < low).any():
        raise DataError(f"{name} is {received(value)}; {expected}")
    fewest_templates = int(array.max()) * (people if array.ndim == 0 else 1)
    require_memory(TEMPLATE_BYTES * fewest_templates, f"{fewest_templates:,} templates", FEWER)
    if array.ndim == 0:
        return np.full(people, array, dtype=np.int64)
    if isinstance(value, tuple) and len(value) == 2:
        if value[0] > value[1]:
            raise DataError(f"{name} is {received(value)}, a range that runs backwards; {expected}")
        return stream.integers(int(value[0]), int(value[1]), people)
    if len(array) != people:
        raise DataError(f"{name} has {len(array)} counts; {expected}")
    return array.astype(np.int64)
