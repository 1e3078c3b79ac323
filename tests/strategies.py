"""Small cases for property tests: a few subjects, unequal samples, many ties.

``matrices()`` draws a :class:`Case`; ``thresholds(case)`` draws thresholds that hit its scores.
Shapes, dtypes and memory layouts come from small pools, so that nothing compiles again and again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import settings, strategies as st
from hypothesis.extra import numpy as hnp

#: Without the slow tests, scores are drawn for the kernels of float64 alone: a kernel takes seconds
#: to compile, and tests that name their dtype need the common ones for float32 anyway.
EVERY_FLOAT = True  # set by conftest.py

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")
DTYPES = FLOATS + INTEGERS
ORDERS = ("C", "F", "strided", "reversed", "readonly")
FUSIONS = ("best", "mean", "worst", "median", "kth:1", "kth:2")
TIES = ("pessimistic", "optimistic", "stable", "expected")
UNITS = ("template", "subject")
IMPOSTORS = ("auto", "unenrolled", "leave-subject-out", "both")

# Templates of each enrolled subject: alone, singletons, unequal, equal.
SIZES = (
    *((1,), (3,), (1, 1), (2, 1), (2, 2), (3, 1, 2), (2, 2, 2), (1, 1, 1, 1)),
    *((4, 1, 1, 2), (1, 3, 2, 1, 2)),
)
PROBES = (1, 2, 3, 5, 8)

INT_NAMES = (7, -3, 100, 0, 42, 5, 9)
STR_NAMES = ("b", "anna", " c", "Zoë", "10", "9", "id 3")


def examples_of(most: int) -> int:
    """Return how many examples a test draws: `most` where CI is set, a tenth elsewhere, but 10.

    The share is that of the profile, which ``conftest.py`` loads.
    """
    return min(most, max(10, most * settings().max_examples // 100))


def compiled(dtypes: Sequence[str]) -> Sequence[str]:
    """Return the dtypes of a test from which examples are drawn."""
    wide = [x for x in dtypes if np.dtype(x).itemsize == 8 or x == "int32"]
    return dtypes if EVERY_FLOAT or not wide else wide


@dataclass
class Case:
    """One evaluation: as ``Scores`` and naive.py take it."""

    values: np.ndarray
    probe_labels: Any
    gallery_labels: Any
    kind: str
    nan: str
    mask: np.ndarray | None = None

    @property
    def square(self) -> bool:
        """All-against-all: no gallery of its own."""
        return self.gallery_labels is None and self.values.shape[0] == self.values.shape[1]

    def scores(self) -> dict[str, Any]:
        """Return the arguments of ``be.Scores``."""
        return {
            "values": self.values,
            "labels": self.probe_labels,
            "gallery_labels": self.gallery_labels,
            "kind": self.kind,
            "nan": self.nan,
            "mask": self.mask,
        }

    def naive(
        self, probes: Sequence[int] | None = None, gallery: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Return the arguments of naive.py, of the whole or of a selected part.

        A part is probe-against-gallery, with identities where templates stand on both sides.
        """
        out: dict[str, Any] = {
            "values": self.values.tolist(),
            "probe_labels": _tolist(self.probe_labels),
            "gallery_labels": _tolist(self.gallery_labels),
            "kind": self.kind,
            "nan": self.nan,
            "mask": None if self.mask is None else self.mask.tolist(),
        }
        if probes is None and gallery is None:
            return out
        m, n = self.values.shape
        rows = list(range(m)) if probes is None else [int(i) for i in probes]
        columns = list(range(n)) if gallery is None else [int(j) for j in gallery]
        if self.square:
            out["probe_ids"], out["gallery_ids"] = rows, columns
        names = out["probe_labels"] if self.square else out["gallery_labels"]
        if names is not None:
            out["gallery_labels"] = [names[j] for j in columns]
        if out["probe_labels"] is not None:
            out["probe_labels"] = [out["probe_labels"][i] for i in rows]
        for name in ("values", "mask"):
            if out[name] is not None:
                out[name] = [[out[name][i][j] for j in columns] for i in rows]
        return out

    def finite_scores(self) -> list[float]:
        """Return the distinct finite scores as exact float64, the diagonal included."""
        values = self.values.astype(np.float64)
        return sorted(set(values[np.isfinite(values)].tolist()))


def _tolist(labels: Any) -> list[Any] | None:
    return None if labels is None else np.asarray(labels).tolist()


def arrange(values: np.ndarray, order: str) -> np.ndarray:
    """Return the same numbers in another memory layout."""
    if order == "C":
        return np.ascontiguousarray(values)
    if order == "F":
        return np.asfortranarray(values)
    m, n = values.shape
    if order == "strided":
        wide = np.zeros((2 * m, 2 * n + 1), dtype=values.dtype)
        wide[::2, 1::2] = values
        return wide[::2, 1::2]
    if order == "reversed":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    if order == "readonly":
        fixed = np.array(values)
        fixed.flags.writeable = False
        return fixed
    raise ValueError(f"order {order!r}")


def pool(dtype: str, *, allow_inf: bool) -> list[Any]:
    """Scores to draw from: a coarse grid, close neighbours, both zeros, the ends of the dtype."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        tenth = kind.type(0.1)
        grid = [0.0, -0.0, 0.1, 0.25, 0.5, 1.0, -1.0, 3.0]
        neighbours = [np.nextafter(tenth, kind.type(1)), np.nextafter(tenth, kind.type(0))]
        ends = [kind.type(np.inf), kind.type(-np.inf)] if allow_inf else []
        return [kind.type(x) for x in grid] + neighbours + ends
    info = np.iinfo(kind)
    low = [-2, -1] if info.min < 0 else []
    return [kind.type(x) for x in [0, 1, 2, 3, *low, info.max, info.min]]


@st.composite
def score_arrays(
    draw: st.DrawFn,
    shape: tuple[int, int],
    dtype: str,
    *,
    allow_nan: bool = False,
    allow_inf: bool = True,
) -> np.ndarray:
    """Scores of one shape and dtype: from a few values (many ties), or any moderate number."""
    is_float = np.dtype(dtype).kind == "f"
    if draw(st.integers(0, 3)):
        distinct = draw(
            st.lists(st.sampled_from(pool(dtype, allow_inf=allow_inf)), min_size=1, max_size=6)
        )
        if is_float and allow_nan and draw(st.booleans()):
            distinct.append(np.dtype(dtype).type(np.nan))
        chosen = draw(
            hnp.arrays(
                np.uint8, shape, elements=st.integers(0, len(distinct) - 1), fill=st.nothing()
            )
        )
        return np.array(distinct, dtype=dtype)[chosen]
    if is_float:
        width: Any = 8 * np.dtype(dtype).itemsize
        elements: Any = st.floats(-100, 100, width=width, allow_subnormal=True)
        return draw(hnp.arrays(dtype, shape, elements=elements, fill=st.nothing()))
    return draw(hnp.arrays(dtype, shape, fill=st.nothing()))


@st.composite
def matrices(
    draw: st.DrawFn,
    *,
    layouts: Sequence[str] = ("square", "rectangular"),
    dtypes: Sequence[str] = DTYPES,
    kinds: Sequence[str] = ("distance", "similarity"),
    nans: Sequence[str] = ("raise", "reject", "exclude"),
    allow_inf: bool = True,
    unenrolled: bool = True,
    masks: Sequence[str] = ("none",),
    orders: Sequence[str] = ORDERS,
    sizes: Sequence[tuple[int, ...]] = SIZES,
) -> Case:
    """Draw a small case.

    ``masks`` may hold ``"none"``, ``"labelled"`` (the classes of the labels, with cells ignored)
    and ``"alone"`` (any classes, no labels). The diagonal of a square mask is ignored. NaN is
    drawn only under a policy that takes it, except on the diagonal of a square matrix, which is
    never read and may hold anything.
    """
    layout = draw(st.sampled_from(tuple(layouts)))
    dtype = draw(st.sampled_from(tuple(compiled(dtypes))))
    kind = draw(st.sampled_from(tuple(kinds)))
    nan = draw(st.sampled_from(tuple(nans)))
    mask_form = draw(st.sampled_from(tuple(masks)))
    names = draw(st.sampled_from((INT_NAMES, STR_NAMES)))
    size = draw(st.sampled_from(tuple(sizes)))

    one_each = [names[s] for s, count in enumerate(size) for _ in range(count)]
    gallery = draw(st.permutations(one_each))
    if layout == "square":
        probes = gallery
    else:
        # One or two names beyond the enrolled ones are unknown to the gallery.
        known_names = names[: len(size) + (2 if unenrolled else 0)]
        m = draw(st.sampled_from(PROBES))
        probes = draw(st.lists(st.sampled_from(known_names), min_size=m, max_size=m))
    shape = (len(probes), len(gallery))

    values = draw(score_arrays(shape, dtype, allow_nan=nan != "raise", allow_inf=allow_inf))
    if layout == "square" and draw(st.booleans()):
        if values.dtype.kind == "f":
            poison = draw(st.sampled_from((np.nan, np.inf, -np.inf)))
        else:
            info = np.iinfo(values.dtype)
            poison = draw(st.sampled_from((info.min, info.max)))
        np.fill_diagonal(values, poison)

    mask = None
    if mask_form != "none":
        mask = draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 2), fill=st.nothing()))
        if mask_form == "labelled":
            same = np.array(probes)[:, None] == np.array(gallery)[None, :]
            mask = np.where(mask == 0, 0, np.where(same, 2, 1)).astype(np.uint8)
        if layout == "square" or (mask_form == "alone" and shape[0] == shape[1]):
            np.fill_diagonal(mask, 0)

    order = draw(st.sampled_from(tuple(orders)))
    as_array = draw(st.booleans())
    alone = mask_form == "alone"
    probe_labels: Any = None if alone else np.array(probes) if as_array else list(probes)
    gallery_labels: Any = None
    if layout == "rectangular" and not alone:
        gallery_labels = np.array(gallery) if as_array else list(gallery)
    return Case(
        values=arrange(values, order),
        probe_labels=probe_labels,
        gallery_labels=gallery_labels,
        kind=kind,
        nan=nan,
        mask=mask,
    )


@st.composite
def thresholds(
    draw: st.DrawFn,
    case: Case,
    *,
    max_size: int = 8,
    allow_inf: bool = True,
    extra: Sequence[float] = (),
) -> np.ndarray:
    """Draw strictly increasing thresholds: scores themselves, their neighbours, infinities.

    ``extra`` are more values to hit, such as fused scores.
    """
    exact = [*case.finite_scores(), *(float(score) for score in extra if np.isfinite(score))]
    candidates = [0.0, 0.1, 0.5, 1e-3, 300.0]
    for score in exact:
        candidates += [float(np.nextafter(score, np.inf)), float(np.nextafter(score, -np.inf))]
    pools = [st.sampled_from(candidates)]
    if exact:
        pools += [st.sampled_from(exact)] * 2
    if allow_inf:
        pools.append(st.sampled_from((np.inf, -np.inf)))
    drawn = draw(st.lists(st.one_of(pools), min_size=1, max_size=max_size))
    return np.array(sorted({score + 0.0 for score in drawn}), dtype=np.float64)


@st.composite
def claims(draw: st.DrawFn, case: Case, *, unenrolled: bool = False) -> Any:
    """Draw explicit claims: a subject for each probe, or a list of (probe, subject)."""
    m = case.values.shape[0]
    names = list(dict.fromkeys(case.naive()["gallery_labels"] or case.naive()["probe_labels"]))
    if unenrolled:
        spare = INT_NAMES if isinstance(names[0], int) else STR_NAMES
        names += [x for x in spare if x not in names][:1]
    if draw(st.booleans()):
        return np.array(draw(st.lists(st.sampled_from(names), min_size=m, max_size=m)))
    pairs = draw(st.lists(st.tuples(st.integers(0, m - 1), st.sampled_from(names)), max_size=10))
    return np.array([p for p, _ in pairs], dtype=np.int64), np.array(
        [s for _, s in pairs], dtype=np.array(names).dtype
    )


@st.composite
def selections(draw: st.DrawFn, case: Case) -> tuple[list[int], list[int]]:
    """Draw the rows and columns of a part of the case, in any order, none twice."""
    m, n = case.values.shape
    rows = draw(st.lists(st.integers(0, m - 1), min_size=1, max_size=m, unique=True))
    columns = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    return rows, columns


@st.composite
def attempts(draw: st.DrawFn, *, max_size: int = 12) -> tuple[list[Any], list[Any], str]:
    """Draw genuine and impostor scores with ties, and their kind, for operating points."""
    kind = draw(st.sampled_from(("distance", "similarity")))
    values = st.one_of(
        st.sampled_from((0.0, 0.1, 0.25, 0.5, 1.0)),
        st.integers(0, 4),
        st.sampled_from((np.inf, -np.inf)),
        st.floats(-100, 100),
    )
    scores = st.lists(values, max_size=max_size)
    return draw(scores), draw(scores), kind
