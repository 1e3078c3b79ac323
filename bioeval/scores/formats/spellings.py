"""Spellings of genuine, impostor and numbers in lists of pairs, and the names of scores."""

from __future__ import annotations

from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind

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
# As np.savetxt writes 1, 0 and -1 where nothing else is asked for.
TRUTH |= {f"{x:.18e}": x == 1 for x in (1, 0, -1)}
# Presentation attack detection: a bona fide presentation takes the place of a genuine attempt.
TRUTH |= {"bonafide": True, "bona-fide": True, "spoof": False, "attack": False}

#: Spellings of impostor that differ in meaning where one list has two of them.
IMPOSTORS = (
    ("0", "0.0", f"{0:.18e}"),
    ("-1", "-1.0", f"{-1:.18e}"),
    ("spoof", "attack"),
    ("nontarget", "non-target", "impostor", "imposter", "nonmatch", "non-match", "different"),
)

#: Names of a column of scores, and the kind that the name declares.
SCORE_NAMES: dict[str, Kind | None] = {
    "score": None,
    "scores": None,
    "distance": "distance",
    "dissimilarity": "distance",
    "similarity": "similarity",
    "llr": "llr",
    "y_score": None,  # of scikit-learn
}

#: Names of a column that says which pairs are genuine.
TRUTH_NAMES = (
    *("genuine", "target", "is_target", "match", "mated", "same", "is_genuine", "label"),
    *("targettype", "target_type", "y_true"),
)

#: Names of a column of attack instrument species.
SPECIES_NAMES = ("attack", "species", "attack_type", "pai", "pais")

#: Names of the enrolled side and of the side of the probe: of subjects, then of templates. Names
#: that only number the sides are as those of a trial: the first is enrolled.
SUBJECT_NAMES = (
    (
        "subject_a",
        "subject_1",
        "enrol",
        "enroll",
        "claimed_id",
        "gallery_subject",
        "bio_ref_subject_id",
    ),
    ("subject_b", "subject_2", "test", "real_id", "probe_subject", "probe_subject_id"),
)
TEMPLATE_NAMES = (
    (
        *("template_a", "template_1", "model", "model_label", "gallery", "bio_ref_template_id"),
        *("modelid", "model_id"),  # NIST's evaluations of speakers
    ),
    (
        *("template_b", "template_2", "probe", "probe_label", "probe_template_id", "probe_key"),
        *("segmentid", "segment_id", "segment"),
    ),
)

#: Names of the sides of a trial, which lists of speakers give to subjects or to recordings.
TRIAL_NAMES = ("enrol", "enroll", "test")

#: Every name of a column of a list of pairs.
COLUMN_NAMES = {"fold", *SCORE_NAMES, *TRUTH_NAMES, *sum(SUBJECT_NAMES + TEMPLATE_NAMES, ())}


def folded(name: str) -> str:
    """Return the name of a column in lower case, with ``_`` for blanks and hyphens."""
    return name.casefold().replace("-", "_").replace(" ", "_")


#: The most columns, or arrays of metadata: more are a matrix, or damage.
MOST_COLUMNS = 1000


def require_few(cells: list[str], where: str) -> None:
    """Raise where a line has more columns than a list or a table."""
    if len(cells) > MOST_COLUMNS:
        raise DataError(
            f"{where}: has {len(cells):,} columns; expected at most {MOST_COLUMNS:,} (a matrix of "
            "scores is read from .npy or .npz)"
        )


def require_names(cells: list[str], where: str) -> None:
    """Raise where a column has no name, or the name of another."""
    for number, name in enumerate(cells, 1):
        if not name and number > 1:  # the first may be the index of pandas
            raise DataError(f"{where}: column {number} has no name in the header")
        if name in cells[: number - 1]:
            raise DataError(f"{where}: two columns are called {name!r}")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def truth_word(cell: str) -> str:
    """Return a cell as :data:`TRUTH` spells it."""
    return cell.casefold().replace("_", "-")


def is_truth(cell: str) -> bool:
    """Whether a cell states genuine or impostor."""
    return truth_word(cell) in TRUTH


def is_attack(cell: str) -> bool:
    """Whether a cell states that a presentation is an attack."""
    return cell.casefold() in ("spoof", "attack")


def like_number(cell: str) -> bool:
    """Whether a cell is a number, or one that is refused with advice: ``50%``, ``0,5``."""
    return is_number(cell.removesuffix("%").replace(",", ".", 1))
