"""Layouts of lists of pairs in text: which column is what, by its name or by the first lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bioeval.base.errors import DataError
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.text_table import Shape

#: The spellings of genuine and impostor, in lower case and with ``-`` for ``_``.
TRUTH = dict.fromkeys(
    ("1", "1.0", "+1", "true", "genuine", "target", "match", "mated", "same", "client"), True
) | dict.fromkeys(
    (
        *("0", "0.0", "-1", "-1.0", "false", "impostor", "imposter", "nontarget", "non-target"),
        *("nonmatch", "non-match", "nonmated", "non-mated", "different"),
    ),
    False,
)
# Presentation attack detection: a bona fide presentation takes the place of a genuine attempt.
TRUTH |= {"bonafide": True, "bona-fide": True, "spoof": False, "attack": False}

#: Names of a column of scores, and the kind that the name declares.
SCORE_NAMES = {
    "score": None,
    "scores": None,
    "distance": "distance",
    "dissimilarity": "distance",
    "similarity": "similarity",
    "llr": "llr",
}

_TRUTH_NAMES = ("genuine", "target", "is_target", "match", "mated", "same", "is_genuine", "label")

#: Names of the two sides, in the order in which a list has them: subjects, then templates. The
#: probe is the second, but for names that only number the sides, where it is the first.
_SUBJECT_NAMES = (
    ("subject_a", "subject_1", "enrol", "claimed_id", "gallery_subject", "bio_ref_subject_id"),
    ("subject_b", "subject_2", "test", "real_id", "probe_subject", "probe_subject_id"),
)
_TEMPLATE_NAMES = (
    ("template_a", "template_1", "model", "model_label", "gallery", "bio_ref_template_id"),
    ("template_b", "template_2", "probe", "probe_label", "probe_template_id", "probe_key"),
)
_NUMBERED = ("subject_a", "subject_1", "template_a", "template_1")


@dataclass(frozen=True)
class PairLayout:
    """The columns of a list of pairs by their number; None where there is none.

    Attributes
    ----------
    score, genuine, fold : int or None
    subjects, templates : two ints, or None
        The subjects and the names of the templates of both sides, as the list orders them. One
        template alone is the key of an attempt, as of presentation attack detection.
    probe : {0, 1}
        Which of the two sides is the probe.
    kind : str or None
        What the scores are, where the file declares it.
    names : list of str
        What the columns are called in messages.
    header : bool
        Whether the first line has the names.
    claims : bool
        Whether enrolled templates are named by their subjects alone.
    """

    names: list[str] = field(repr=False)
    score: int | None = None
    genuine: int | None = None
    fold: int | None = None
    subjects: tuple[int, int] | None = None
    templates: tuple[int, ...] | None = None
    probe: int = 1
    kind: str | None = None
    header: bool = False
    claims: bool = False


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_truth(cell: str) -> bool:
    """Whether a cell says genuine or impostor."""
    return cell.casefold().replace("_", "-") in TRUTH


def _folded(cell: str) -> str:
    return cell.casefold().replace("-", "_").replace(" ", "_")


def _kept(shape: Shape, test: Callable[[str], bool]) -> list[int]:
    """Return the columns of which most cells of the first lines pass a test."""
    rows = [row for row in shape.cells if len(row) == shape.columns]
    return [i for i in range(shape.columns) if 2 * sum(test(row[i]) for row in rows) > len(rows)]


# ------------------------------------------------------------------------- layouts


def with_header(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of a list whose first line names its columns."""
    cells = shape.cells[0]
    folded = {_folded(cell): i for i, cell in reversed([*enumerate(cells)])}
    named = _names_columns(shape, folded)
    if not named and {options.scores_key, options.genuine_key}.isdisjoint(cells):
        return None
    for number, name in enumerate(cells, 1):
        if not name:
            raise DataError(f"{shape.path}: line 1: column {number} has no name in the header")
        if name in cells[: number - 1]:
            raise DataError(f"{shape.path}: line 1: two columns are called {name!r}")

    def column(key: str | None, names: tuple[str, ...]) -> int | None:
        if key is not None and key in cells:
            return cells.index(key)
        return None if key else next((folded[name] for name in names if name in folded), None)

    def sides(names: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[int, int] | None:
        a, b = (column(None, side) for side in names)
        return None if a is None or b is None else (a, b)

    score = column(options.scores_key, tuple(SCORE_NAMES))
    first = sides(_TEMPLATE_NAMES) or sides(_SUBJECT_NAMES)
    return PairLayout(
        names=cells,
        score=score,
        genuine=column(options.genuine_key, _TRUTH_NAMES),
        fold=column(None, ("fold",)),
        subjects=sides(_SUBJECT_NAMES),
        templates=sides(_TEMPLATE_NAMES),
        probe=0 if first and _folded(cells[first[0]]) in _NUMBERED else 1,
        kind=None if score is None else SCORE_NAMES.get(_folded(cells[score])),
        header=True,
    )


def _names_columns(shape: Shape, folded: dict[str, int]) -> bool:
    """Whether the first line names columns, as far as the names are known."""
    if any(map(is_number, shape.cells[0])):
        return False
    if not folded.keys().isdisjoint(SCORE_NAMES):
        return True
    for name in folded.keys() & set(_TRUTH_NAMES):
        # "target" is a name above 1 and 0, and a word above other words.
        below = [row[folded[name]] for row in shape.cells[1:] if len(row) == shape.columns]
        return not is_truth(name) or any(map(is_number, below))
    return any(
        all(not folded.keys().isdisjoint(side) for side in sides)
        for sides in (_SUBJECT_NAMES, _TEMPLATE_NAMES)
    )


def bob(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of bob's 4 and 5 columns: claimed, (model,) real, probe, score."""
    columns = shape.columns
    last = columns - 1
    numbers = _kept(shape, is_number)
    if columns not in (4, 5) or last not in numbers:
        return None
    truths = _kept(shape, is_truth)
    if truths and not set(truths) <= set(numbers):
        return None  # a word such as "target"
    if truths == [0] and not {1, 2} & set(numbers):
        return None  # 1 or 0, two names and a score
    names = ["claimed_id", "model_label", "real_id", "probe_label", "score"]
    if columns == 4:
        names.remove("model_label")
    real = names.index("real_id")
    return PairLayout(
        names=names,
        score=last,
        subjects=(0, real),
        templates=(real - 1, real + 1),
        claims=columns == 4,
    )


def labelled(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of lines with a word for genuine or impostor, and names or a score."""
    truths, numbers = _kept(shape, is_truth), _kept(shape, is_number)
    words = [i for i in truths if i not in numbers]
    if not truths or len(words) > 1 or shape.columns > 6:
        return None
    rest = [i for i in numbers if i not in words]
    if not words and shape.columns == 2 and len(truths) == 2:
        raise DataError(
            f"{shape.path}: both columns hold only 0 and 1; give the columns names, score and "
            "genuine, in a first line"
        )
    genuine = words[0] if words else truths[0]
    scores = [i for i in rest if i != genuine]
    score = scores[-1] if scores else None
    keys = tuple(i for i in range(shape.columns) if i not in (genuine, score))
    if score is None and not keys:
        return None
    names = [f"column {i}" for i in range(1, shape.columns + 1)]
    names[genuine] = "genuine"
    if score is not None:
        names[score] = "score"
    return PairLayout(names=names, score=score, genuine=genuine, templates=keys or None, probe=1)


def keyed(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of one or two names and a score, whose truth is elsewhere."""
    numbers = _kept(shape, is_number)
    if shape.columns not in (2, 3) or not numbers:
        return None
    score = numbers[-1]
    keys = tuple(i for i in range(shape.columns) if i != score)
    if shape.columns == 2 and keys[0] in numbers:
        return None
    names = ["a", "b"][: len(keys)]
    names.insert(score, "score")
    return PairLayout(names=names, score=score, templates=keys, probe=0)


def only_scores(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of one score a line, all genuine; the impostor scores are another file."""
    if shape.columns != 1 or not _kept(shape, is_number):
        return None
    return PairLayout(names=["score"], score=0)


#: The layouts in the order in which they are tried.
LAYOUTS = (with_header, bob, labelled, keyed, only_scores)


def find_layout(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of a list of pairs, by its first lines; None for any other text."""
    found = (find(shape, options) for find in LAYOUTS)
    layout = next((layout for layout in found if layout is not None), None)
    if layout is None and shape.columns == 2:
        for i in range(2):
            if {"2"} < {row[i] for row in shape.cells if len(row) == 2} <= {"1", "2"}:
                raise DataError(
                    f"{shape.path}: column {i + 1} holds 1 and 2, which do not say which is "
                    "genuine; write 1 and 0, or genuine and impostor"
                )
    return layout


def unknown_layout(shape: Shape) -> DataError:
    """Return the error of a text that is no known list."""
    first = " ".join(shape.cells[0])[:80]
    return DataError(
        f"{shape.path}: no column 'score', and the first line, {first!r}, is none of a known list; "
        "expected a first line with the names of the columns, such as 'distance,genuine' or "
        f"'similarity,subject_a,subject_b' (others by {say('scores_key')} and "
        f"{say('genuine_key')}). A matrix of scores is read from .npy or .npz"
    )
