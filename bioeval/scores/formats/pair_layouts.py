"""Layouts of lists of pairs in text, found by the names of columns or by the first lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse

from bioeval.base.errors import DataError, nearest_name
from bioeval.base.kinds import Kind
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.formats.format import ReadOptions, say
from bioeval.scores.formats.spellings import (
    COLUMN_NAMES,
    SCORE_NAMES,
    SPECIES_NAMES,
    SUBJECT_NAMES,
    TEMPLATE_NAMES,
    TRIAL_NAMES,
    TRUTH,
    TRUTH_NAMES,
    folded,
    is_attack,
    is_number,
    is_truth,
    like_number,
    require_names,
    truth_word,
)
from bioeval.scores.formats.text_table import Shape

#: The most columns of a list without their names: ASVspoof 2021 has 8.
_MOST_COLUMNS = 12

_DECIMAL = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)

_NUMBERED = ("subject_a", "subject_1", "template_a", "template_1")


@dataclass(frozen=True)
class PairLayout:
    """The columns of a list of pairs by their number; None for those that it lacks."""

    names: list[str] = field(repr=False)  # what the columns are called in messages
    score: int | None = None
    genuine: int | None = None
    fold: int | None = None
    species: int | None = None
    #: The subjects and the names of the templates of both sides: of the enrolled template, then of
    #: the probe. One template alone is the key of an attempt, as of presentation attack detection.
    subjects: tuple[int, int] | None = None
    templates: tuple[int, ...] | None = None
    #: Whether names such as template_a and template_b show that both sides are one set.
    numbers_sides: bool = False
    kind: Kind | None = None  # what the scores are, where the file declares it
    header: bool = False  # whether the first line has the names
    claims: bool = False  # whether enrolled templates are named by their subjects alone

    @property
    def names_templates(self) -> bool:
        """Whether the templates of both sides have names."""
        return self.templates is not None and len(self.templates) == 2 and not self.claims

    def called(self, columns: Iterable[int | None]) -> dict[int, str]:
        """Return the names of some columns by their number, without those that it lacks."""
        return {i: self.names[i] for i in columns if i is not None}


def _kept(shape: Shape, test: Callable[[str], bool]) -> list[int]:
    """Return the columns of which most cells of the first lines pass a test."""
    kept = []
    for i in range(shape.columns):
        cells = shape.column(i)
        if 2 * sum(map(test, cells)) > len(cells):
            kept.append(i)
    return kept


def _truths(shape: Shape) -> list[int]:
    """Return the columns that state genuine or impostor, and hold no other number."""
    truths = []
    for i in _kept(shape, is_truth):
        other_cells = filterfalse(is_truth, shape.column(i))
        if not any(map(like_number, other_cells)):
            truths.append(i)
    return truths


def _fractions(shape: Shape, columns: Sequence[int]) -> list[int]:
    """Return those of some columns that hold a number with a fraction."""
    fractions = []
    for i in columns:
        numbers = filter(like_number, shape.column(i))
        if not all(cell.lstrip("+-").isalnum() for cell in numbers):
            fractions.append(i)
    return fractions


def _numbered_columns(shape: Shape) -> list[str]:
    return [*map("column {}".format, range(1, shape.columns + 1))]


def _score_column(shape: Shape, numbers: list[int]) -> int | None:
    """Return the column of numbers that holds the scores; raise where several could."""
    if not numbers:
        return None
    if len(numbers) == 1:
        return numbers[0]
    fractions = _fractions(shape, numbers)
    if len(fractions) == 1:
        return fractions[0]
    raise two_readings(shape, numbers, "numbers", "could be the scores")


def two_readings(shape: Shape, columns: list[int], content: str, so: str) -> DataError:
    """Return the error of a list that could be read in two ways."""
    numbers = [str(i + 1) for i in columns]
    last = numbers.pop()
    hold = f"column {last} holds"
    if numbers:
        hold = f"columns {', '.join(numbers)} and {last} each hold"
    return DataError(
        f"{shape.path}: line {shape.skipped + 1}: {hold} {content}, and {so}; write the names "
        "of the columns in a first line, such as 'genuine template_a template_b score' or "
        "'claimed_id real_id probe_label score'"
    )


# ------------------------------------------------------------------------- layouts


def with_header(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of a list whose first line names its columns."""
    cells = shape.cells[0]
    places = {folded(cell): i for i, cell in reversed([*enumerate(cells)])}
    if not names_columns(shape) and {
        options.columns.get("scores"),
        options.columns.get("genuine"),
    }.isdisjoint(cells):
        return None
    require_names(cells, f"{shape.path}: line {shape.skipped + 1}")

    def column(key: str | None, names: tuple[str, ...], option: str = "") -> int | None:
        """Return the column that an option names, or the first of the known names."""
        if key is not None and key in cells:
            return cells.index(key)
        several = [cell for cell in cells if folded(cell) in names]
        if option and key is None and len(several) > 1:
            raise DataError(
                f"{shape.path}: line {shape.skipped + 1}: {' and '.join(map(repr, several))} could "
                f"each be the column of {option.removeprefix('columns.')}; say "
                f"{say(option, several[0])}"
            )
        if not key:
            for name in names:
                if name in places:
                    return places[name]
        return None

    def sides(names: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[int, int] | None:
        a = column(None, names[0])
        b = column(None, names[1])
        if a is None or b is None:
            return None
        return (a, b)

    score = column(options.columns.get("scores"), tuple(SCORE_NAMES), "columns.scores")
    genuine = column(options.columns.get("genuine"), TRUTH_NAMES, "columns.genuine")
    subjects, templates = sides(SUBJECT_NAMES), sides(TEMPLATE_NAMES)
    if subjects and not templates and _are_recordings(shape, subjects, genuine, options):
        subjects, templates = None, subjects
    first = templates or subjects
    return PairLayout(
        names=cells,
        score=score,
        genuine=genuine,
        fold=column(None, ("fold",)),
        species=column(None, SPECIES_NAMES),
        subjects=subjects,
        templates=templates,
        numbers_sides=first is not None and folded(cells[first[0]]) in _NUMBERED,
        kind=None if score is None else SCORE_NAMES.get(folded(cells[score])),
        header=True,
    )


def _are_recordings(
    shape: Shape, sides: tuple[int, int], genuine: int | None, options: ReadOptions
) -> bool:
    """Whether columns such as enrol and test name recordings, and not the subjects themselves.

    An option then says whose they are, or a genuine pair has two names.
    """
    if not all(folded(shape.cells[0][i]) in TRIAL_NAMES for i in sides):
        return False
    if options.trials or options.labels or options.subject_from:
        return True
    if genuine is None:
        return False
    one, other = sides
    for row in shape.rows[1:]:
        if TRUTH.get(truth_word(row[genuine])) and row[one] != row[other]:
            return True
    return False


def names_columns(shape: Shape) -> bool:
    """Whether the first line of a text names the columns of a list, as far as they are known."""
    places = {folded(cell): i for i, cell in enumerate(shape.cells[0])}
    if any(map(is_number, shape.cells[0])):
        return False

    def has_one(names: Iterable[str]) -> bool:
        return not places.keys().isdisjoint(names)

    if has_one(SCORE_NAMES):
        return True
    for name in places.keys() & set(TRUTH_NAMES):
        # "target" is a name above 1 and 0, and a word above other words.
        _, *below = shape.column(places[name])
        return not is_truth(name) or any(map(is_number, below))
    return all(map(has_one, SUBJECT_NAMES)) or all(map(has_one, TEMPLATE_NAMES))


def bob(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of bob's 4 and 5 columns: claimed, (model,) real, probe, score."""
    columns = shape.columns
    last = columns - 1
    numbers, truths = _kept(shape, like_number), _truths(shape)
    if columns not in (4, 5) or last not in numbers or not set(truths) <= set(numbers):
        return None  # a word such as "target"
    real = columns - 3
    if truths == [0] and real not in numbers:
        return None  # 1 or 0, two names and a score
    if last in truths and last - 1 in numbers:
        return None  # two names, a score, and 1 or 0
    if _fractions(shape, numbers[:-1]):
        raise two_readings(shape, numbers, "numbers", "could be the scores")
    names = ["claimed_id", "model_label", "real_id", "probe_label", "score"]
    if columns == 4:
        names.remove("model_label")
    return PairLayout(
        names=names,
        score=last,
        subjects=(0, real),
        templates=(real - 1, real + 1),
        claims=columns == 4,
    )


def labelled(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of lines with a word for genuine or impostor, and names or a score."""
    truths, numbers = _truths(shape), _kept(shape, like_number)
    words = [i for i in truths if i not in numbers]
    if len(words) == 2:  # bonafide or a species, beside target, nontarget and spoof
        classes = [i for i, j in (words, words[::-1]) if _species(shape, i, [j]) is not None]
        words = truths = classes or words
    if not truths or len(words) > 1 or shape.columns > _MOST_COLUMNS:
        return None
    if not words and len(truths) > 1:
        raise two_readings(shape, truths, "only 0 and 1", "could mark genuine pairs")
    genuine = (words or truths)[0]
    score = _score_column(shape, [i for i in numbers if i != genuine])
    species = _species(shape, genuine, shape.columns_except(genuine, score))
    keys = tuple(shape.columns_except(genuine, score, species))
    if score is None and not keys:
        return None
    names = _numbered_columns(shape)
    names[genuine] = "genuine"
    if score is not None:
        names[score] = "score"
    return PairLayout(
        names=names, score=score, genuine=genuine, templates=keys or None, species=species
    )


def _species(shape: Shape, genuine: int, columns: list[int]) -> int | None:
    """Return the column that names a species where the class is an attack, and none elsewhere."""
    attacks = list(map(is_attack, shape.column(genuine)))
    if all(attacks) or not any(attacks):
        return None
    for i in columns:
        bona_fide = map(is_bona_fide, shape.column(i))
        kinds = set(zip(attacks, bona_fide, strict=True))
        # An attack may lack its species, but no bona fide presentation has one.
        if kinds - {(True, True)} == {(True, False), (False, True)}:
            return i
    return None


def keyed(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of one or two names and a score; another file states the class."""
    numbers = _kept(shape, like_number)
    if shape.columns not in (2, 3) or not numbers:
        return None
    if shape.columns == len(numbers) == 2:
        return None
    score = _score_column(shape, numbers)
    keys = tuple(shape.columns_except(score))
    names = ["a", "b"][: len(keys)]
    names.insert(score or 0, "score")
    return PairLayout(names=names, score=score, templates=keys)


def only_scores(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of one score per line, all genuine; impostor scores are in another file."""
    if shape.columns != 1 or not _kept(shape, like_number):
        return None
    return PairLayout(names=["score"], score=0)


#: The layouts in the order in which they are tried.
LAYOUTS = (with_header, bob, labelled, keyed, only_scores)


def find_layout(shape: Shape, options: ReadOptions) -> PairLayout | None:
    """Return the layout of a list of pairs, by its first lines; None for any other text."""
    named = options.trials or options.labels or options.subject_from
    layouts = (with_header, keyed, *LAYOUTS[1:]) if named else LAYOUTS
    layout = None
    for find in layouts:
        layout = layout or find(shape, options)
    if layout is None or layout.header or layout.score is None:
        return layout
    _refuse_decimal_commas(shape, layout.score)
    first, *below = shape.column(layout.score)
    if "%" in shape.cells[0] or "%" in shape.cells[-1]:
        raise DataError(f"{shape.path}: has per cent signs; write per cent as fractions")
    known = shape.columns == 1 and first.isalpha()
    if below and not like_number(first) and all(map(is_number, below)) and not known:
        names = ", ".join(map(repr, shape.cells[0]))
        raise DataError(
            f"{shape.path}: line {shape.skipped + 1}: the columns {names} have no name that is "
            f"known; give {say('columns.scores', shape.cells[0][layout.score])} and "
            f"{say('columns.genuine')}, or call them score and genuine"
        )
    return layout


def _refuse_decimal_commas(shape: Shape, score: int) -> None:
    """Raise where a column of scores and the next one could be decimals with a comma."""
    for i in (score - 1, score):
        if shape.mark != "," or not 0 <= i < shape.columns - 1:
            continue
        pairs = zip(shape.column(i), shape.column(i + 1), strict=True)
        if all(_DECIMAL.fullmatch(f"{whole},{fraction}") for whole, fraction in pairs):
            so = "could be decimals with a comma"
            raise two_readings(shape, [i, i + 1], "digits alone", so)


def trial_layout(shape: Shape, options: ReadOptions) -> PairLayout:
    """Return the layout of a list of trials: names, and a word for genuine or impostor.

    Two names alone are a genuine pair.
    """
    columns = {role: name for role, name in options.columns.items() if role == "genuine"}
    layout = with_header(shape, ReadOptions(columns=columns))
    if layout is None:
        truths, numbers = _truths(shape), _kept(shape, like_number)
        if truths and shape.columns == 2:
            _refuse_decimal_commas(shape, 1)
        truths = [i for i in truths if i not in numbers] or truths
        if len(truths) > 1:
            so = "could mark genuine pairs"
            raise two_readings(shape, truths, "words such as target, 1 or 0", so)
        two_names = shape.columns == 2 and not _fractions(shape, numbers)
        if shape.columns > _MOST_COLUMNS or not (truths or two_names):
            raise DataError(
                f"{shape.path}: is not a list of trials; expected two names and a word such as "
                "target or nontarget, 1 or 0, on each line, or the names of genuine pairs alone "
                f"(impostor scores are the second of two files of scores){unknown_words(shape)}"
            )
        return PairLayout(names=_numbered_columns(shape), genuine=truths[0] if truths else None)
    if layout.genuine is None and shape.columns > 2:
        raise DataError(
            f"{shape.path}: no column marks genuine trials; its columns are "
            f"{', '.join(map(repr, layout.names))}, expected one called genuine, target or label, "
            f"or another that {say('columns.genuine')} names"
        )
    return layout


def unknown_layout(shape: Shape) -> DataError:
    """Return the error of a text that is not a known list."""
    first = shape.mark.join(shape.cells[0])[:80]
    return DataError(
        f"{shape.path}: no column 'score', and the first line, {first!r}, is none of a known list; "
        "expected a first line with the names of the columns, such as 'distance,genuine' or "
        f"'similarity,subject_a,subject_b' (others by {say('columns.scores')} and "
        f"{say('columns.genuine')}). A matrix of scores is read from .npy or "
        f".npz{misspelt(shape.cells[0])}"
    )


def unknown_words(shape: Shape) -> str:
    """Return a hint at a column of two words that could mean genuine and impostor, or nothing."""
    for i in range(shape.columns):
        words = list(dict.fromkeys(shape.column(i)))
        names = {cell for j in shape.columns_except(i) for cell in shape.column(j)}
        repeated = len(words) == 2 < len(shape.rows)
        if repeated and names.isdisjoint(words) and not any(map(like_number, words)):
            known = "target and nontarget, or 1 and 0"
            return f". Column {i + 1} has the words {words[0]!r} and {words[1]!r}; write {known}"
    return ""


def misspelt(names: Sequence[str]) -> str:
    """Return a hint at the name that an unknown column may mean, or an empty string."""
    if any(map(is_number, names)):
        return ""
    there = set(map(folded, names))
    for name in names:
        if folded(name) not in COLUMN_NAMES:
            near = nearest_name(name, COLUMN_NAMES - there)
            if near:
                return f". The column {name!r} is not known.{near}"
    return ""
