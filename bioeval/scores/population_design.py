"""The people of a simulated population, and the samples of each side.

People are enrolled subjects first, then those that are not enrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_array, require_choice, require_integer
from bioeval.base.errors import DataError, received
from bioeval.base.memory import require_memory
from bioeval.base.random import RandomState, Stream, seed_sequence

PopulationLayout = Literal["all-against-all", "probe-against-gallery"]
SQUARE, OBLONG = get_args(PopulationLayout)

#: The same count for everyone, a range (low, high), or a count for each person.
Counts = int | tuple[int, int] | Sequence[int] | np.ndarray

#: Bytes of a template besides its features: person, labels, and temporary arrays.
TEMPLATE_BYTES = 64

#: Advice where a population does not fit into memory.
FEWER = "expected fewer subjects or templates"

# Keys of the streams of random numbers; those of `simulation.py` begin with 2.
_TEMPLATE_COUNTS, _PROBE_COUNTS = 0, 1


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a side, sorted by person; all arrays are (samples,)."""

    person: np.ndarray  # numbered from 0, enrolled people first
    meta: dict[str, np.ndarray]
    #: Numbers of subjects, above 0: in re-identification 0 and -1 are distractors and junk.
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True)
class Design:
    """The samples of a population, without their features or scores."""

    people: int
    gallery: Samples
    probes: Samples | None  # None: all against all
    sessions: int | None  # number of sessions, if they are simulated
    cameras: int | None
    seed: np.random.SeedSequence

    @property
    def sides(self) -> list[Samples]:
        return [self.gallery] if self.probes is None else [self.gallery, self.probes]


class _Numbering(NamedTuple):
    """The numbers of sessions and cameras, and the first number of a subject."""

    sessions: int | None
    cameras: int | None
    first_subject: int

    def samples(self, counts: np.ndarray, earlier: np.ndarray, first: int, last: int) -> Samples:
        """Give the samples of each person the sessions `first` to `last` and the cameras, in turn.

        `counts` (people,) are the numbers of samples, `earlier` (people,) the numbers of samples
        that had a camera already.
        """
        total = int(counts.sum(dtype=np.float64))
        require_memory(TEMPLATE_BYTES * total, f"{total:,} templates", FEWER)
        person = np.repeat(np.arange(len(counts)), counts)
        index_in_person = np.arange(len(person)) - (np.cumsum(counts) - counts)[person]
        first = min(first, last)
        sessions = last - first + 1
        meta = {}
        if self.sessions is not None:
            meta["session"] = first + index_in_person % sessions
        if self.cameras is not None:
            samples_before = earlier[person] + index_in_person // sessions
            meta["camera"] = 1 + samples_before % self.cameras
        return Samples(person, meta, person + self.first_subject)


def design_of(
    n_subjects: int,
    n_templates: Counts,
    layout: PopulationLayout,
    probes: Counts | None,
    unenrolled: int | float,
    sessions: int | None,
    cameras: int | None,
    first_subject: int,
    random_state: RandomState,
) -> Design:
    """Return the samples of a population; the arguments are of :func:`bioeval.simulate`."""
    seed = seed_sequence(random_state)
    subjects = require_integer("n_subjects", n_subjects, low=1)
    require_integer("first_subject", first_subject, low=1, high=2**52)
    require_choice("layout", layout, PopulationLayout)
    for name, value in (("sessions", sessions), ("cameras", cameras)):
        if value is not None:
            require_integer(name, value, low=1, high=2**31)
    people = subjects + _unenrolled(unenrolled, subjects)
    # Each person has three numbers of 8 bytes at least: of templates, a label and a row.
    require_memory(24 * people, f"{people:,} subjects", FEWER)
    stream = Stream(seed, _TEMPLATE_COUNTS)
    templates = _counts("n_templates", n_templates, subjects, 1, stream)
    numbering = _Numbering(sessions, cameras, first_subject)
    none = np.zeros(people, dtype=np.int64)
    last_session = sessions or 1
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
        gallery = numbering.samples(templates, none, 1, last_session)
        return Design(people, gallery, None, sessions, cameras, seed)
    stream = Stream(seed, _PROBE_COUNTS)
    counts = _counts("probes", 5 if probes is None else probes, people, 0, stream)
    if not counts.any():
        raise DataError("`probes` is 0 for everyone; expected at least one probe")
    gallery = numbering.samples(templates, none, 1, 1)
    enrolled = np.append(templates, none[subjects:])
    probe_samples = numbering.samples(counts, enrolled, 2, last_session)
    return Design(people, gallery, probe_samples, sessions, cameras, seed)


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


def _unenrolled(value: Any, subjects: int) -> int:
    if isinstance(value, float | np.floating) and 0.0 < value < 1.0:
        return max(1, round(float(value) * subjects))
    try:
        return require_integer(
            "unenrolled", 0 if isinstance(value, float) and value == 0.0 else value, low=0
        )
    except DataError:
        raise DataError(
            f"`unenrolled` is {received(value)}; expected an integer >= 0, or a fraction of the "
            "subjects in (0, 1)"
        ) from None
