"""Tables of other programs: read as they are meant, or refused with an answer that then works."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import unicodedata

import h5py
import numpy as np
import pandas as pd
import pytest
from optional import optional_import

import bioeval as be

RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(6), 4)
X = RNG.normal(size=(6, 8))[WHO] + 0.4 * RNG.normal(size=(24, 8))
D = np.linalg.norm(X[:, None] - X, axis=-1)
A, B = np.nonzero(~np.eye(24, dtype=bool))
SAME = WHO[A] == WHO[B]
NAMES = [f"p{k // 4}_{k % 4}" for k in range(24)]
PATTERN = r"(p\d)_"
PAIRS = pd.DataFrame({"subject_a": WHO[A], "subject_b": WHO[B], "distance": D[A, B]})
NAMED_PAIRS = PAIRS.assign(subject_a=[f"p{k}" for k in WHO[A]], subject_b=[f"p{k}" for k in WHO[B]])
FEATURES = pd.DataFrame(X).add_prefix("f")
NUMBERED = pd.DataFrame(X)
MATRIX = pd.DataFrame(D, index=NAMES, columns=NAMES)
CLASSES = {k: pd.Series(D[A, B][x]) for k, x in (("genuine", SAME), ("impostor", ~SAME))}


def by_r(frame: pd.DataFrame, separator: str) -> str:
    """Return a frame as write.table of R writes it: no title above the names of rows."""
    titles, *lines = frame.to_csv(sep=separator, quoting=2).splitlines()
    return "\n".join([titles.split(separator, 1)[1], *lines]) + "\n"


def put(folder, content):
    """Write a text, or a table as CSV."""
    path = folder / "scores.csv"
    text = content if isinstance(content, str) else content.to_csv(index=False)
    path.write_text(text, encoding="utf-8")
    return path


def numbers(scores):
    """Return the numbers of attempts, and the equal error rate."""
    result = be.verification(scores)
    return [float(result[x]) for x in ("genuine_attempts", "impostor_attempts", "eer")]


OF_DISTANCES = be.Scores(D, WHO, kind="distance")
OF_COSINES = be.Scores.from_embeddings(X, WHO, metric="cosine")
NUMERALS = PAIRS.to_csv(index=False, header=False)
BY_NUMBER = {"columns": {"subject_a": 1, "subject_b": 2, "distance": 3}}
BY_NAME = {"kind": "distance", "subject_from": PATTERN}
COSINE = {"metric": "cosine"}


def zstd(raw: bytes) -> bytes:
    return optional_import("pyarrow").compress(raw, codec="zstd", asbytes=True)


COMPRESSED = (gzip.compress, bz2.compress, lzma.compress, zstd)


# A text or a table, the arguments, and scores with the same numbers.
READ = {
    "numbers alone, by the numbers of columns": (NUMERALS, BY_NUMBER, OF_DISTANCES),
    "the same between blanks": (NUMERALS.replace(",", " "), BY_NUMBER, OF_DISTANCES),
    "labels, then features": (FEATURES.assign(label=WHO), COSINE, OF_COSINES),
    "names and numbered features": (
        NUMBERED.assign(filename=NAMES)[["filename", *range(8)]],
        COSINE | {"subject_from": PATTERN},
        OF_COSINES,
    ),
    "a column that is not read": (
        FEATURES.assign(person=WHO, quality=X[:, 0]),
        COSINE | {"columns": {"quality": None}},
        OF_COSINES,
    ),
    "a stated column of labels": (
        FEATURES.assign(klass=WHO, light="dim"),
        COSINE | {"columns": {"labels": "klass"}},
        OF_COSINES,
    ),
    "list of R": (by_r(NAMED_PAIRS, " "), {}, OF_DISTANCES),
    "list of R with commas": (by_r(NAMED_PAIRS, ","), {}, OF_DISTANCES),
    "matrix of R": (by_r(MATRIX, " "), BY_NAME, OF_DISTANCES),
    "list of Excel": ("sep=;\n" + NAMED_PAIRS.to_csv(index=False, sep=";"), {}, OF_DISTANCES),
    "a column of each class": (pd.DataFrame(CLASSES), {"kind": "distance"}, OF_DISTANCES),
    "titles with score": (
        pd.DataFrame({f"{k}_score": x for k, x in CLASSES.items()}),
        {"kind": "distance"},
        OF_DISTANCES,
    ),
    "names of a matrix": (MATRIX.reset_index(names=""), BY_NAME, OF_DISTANCES),
}


@pytest.mark.parametrize("case", READ)
def test_a_foreign_table_is_read(case, tmp_path):
    content, arguments, expected = READ[case]
    assert numbers(be.load(put(tmp_path, content), **arguments)) == pytest.approx(numbers(expected))
    if not isinstance(content, str):
        content.rename(columns=str).to_parquet(tmp_path / "scores.parquet")
        packed = [tmp_path / f"scores.csv.{x}" for x in ("gz", "bz2", "xz", "zst")]
        for path, compress in zip(packed, COMPRESSED, strict=True):
            path.write_bytes(compress((tmp_path / "scores.csv").read_bytes()))
        for source in (content, tmp_path / "scores.parquet", *packed):
            assert numbers(be.load(source, **arguments)) == pytest.approx(numbers(expected))
        packed[0].write_bytes(packed[0].read_bytes()[:-4])
        with pytest.raises(be.DataError, match="is truncated or damaged"):
            be.load(packed[0], **arguments)


NO_SCORES = pd.DataFrame({"file_1": ["a", "b"], "file_2": ["c", None], "mated": ["yes", None]})
NO_SCORES = NO_SCORES.astype("str" if pd.__version__ >= "3" else "string")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("score,genuine\n0.12,1,1\n0.3,0,1\n", "line 2: 3 cells; expected 2"),  # no names of rows
        ("genuine,impostor\n1,0\n0,1\n", "no column 'score'"),  # flags, and no scores
        (NO_SCORES, "no column 'score'"),
    ],
)
def test_what_is_no_foreign_table_is_refused(content, says, tmp_path):
    sources = [put(tmp_path, content)]
    if not isinstance(content, str):
        content.to_parquet(tmp_path / "x.parquet")
        sources += [content, tmp_path / "x.parquet"]
    for source in sources:
        with pytest.raises(be.DataError, match=says):
            be.load(source, kind="distance")


def test_an_index_of_names_is_the_names_of_rows(tmp_path):
    for table, arguments, expected in (
        (MATRIX, BY_NAME, OF_DISTANCES),
        (FEATURES.assign(label=WHO).set_axis(NAMES), COSINE, OF_COSINES),
    ):
        table.to_parquet(tmp_path / "x.parquet")
        for source in (table, tmp_path / "x.parquet"):
            scores = be.load(source, **arguments)
            assert numbers(scores) == pytest.approx(numbers(expected))
            column = scores.probe_meta["template" if table is MATRIX else "name"]
            assert column.tolist() == NAMES


def test_cameras_and_labels_beside_features_are_no_features(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("label\n" + "\n".join(map(str, WHO)) + "\n", encoding="utf-8")
    cameras = np.tile([1, 2], 12)
    path = put(tmp_path, FEATURES.assign(cam=cameras))
    scores = be.load(path, labels=labels, exclude="cam", **COSINE)
    expected = be.Scores.from_embeddings(X, WHO, probe_meta={"cam": cameras}, exclude="cam")
    assert numbers(scores) == pytest.approx(numbers(expected))
    without = be.load(path, labels=labels, columns={"cam": None}, **COSINE)
    assert "cam" not in without.probe_meta
    assert numbers(without) == pytest.approx(numbers(OF_COSINES))


def test_an_odd_title_is_asked_about_with_an_answer(tmp_path):
    path = put(tmp_path, FEATURES.assign(label=WHO, quality=X[:, 0]))
    with pytest.raises(be.DataError, match=r'`columns=\{"quality": None\}`'):
        be.load(path, **COSINE)
    path = put(tmp_path, FEATURES.assign(label=NAMES).to_csv(index=False, header=False))
    with pytest.raises(be.DataError, match='a first line, such as "f0 f1 f2 label"'):
        be.load(path, **COSINE)


@pytest.mark.parametrize(
    "genuine, impostor",
    [
        *(("Yes", "No"), ("Y", "N"), ("same", "diff"), ("intra", "inter")),
        *(("authentic", "imposter"), ("target", "nontarget"), ("positive", "negative"), ("t", "f")),
        *(
            ("1", "0"),
            ("1.0", "0.0"),
            ("+1", "-1"),
            ("TARGET", "non-target"),
            ("same", "different"),
        ),
    ],
)
def test_words_for_the_classes_are_known(genuine, impostor, tmp_path):
    table = pd.DataFrame({"genuine": np.where(SAME, genuine, impostor), "distance": D[A, B]})
    sources = [table, put(tmp_path, table)]
    for mark in " \t,;":  # without titles, in either order of the columns
        for columns in (["genuine", "distance"], ["distance", "genuine"]):
            sources.append(tmp_path / f"{len(sources)}.txt")
            table[columns].to_csv(sources[-1], sep=mark, header=False, index=False)
    for source in sources:
        scores = be.load(source, kind="distance")
        assert numbers(scores) == pytest.approx(numbers(OF_DISTANCES))


def test_an_unknown_word_has_an_answer(tmp_path):
    table = pd.DataFrame({"distance": D[A, B], "genuine": np.where(SAME, "oui", "non")})
    with pytest.raises(be.DataError, match="genuine is 'oui'") as error:
        be.load(put(tmp_path, table))
    assert """`table["genuine"] = table["genuine"] == 'oui'`""" in str(error.value)
    table["genuine"] = table["genuine"] == "oui"
    assert numbers(be.load(table)) == pytest.approx(numbers(OF_DISTANCES))


@pytest.mark.parametrize("title", ["different", "impostor", "nonmatch"])
def test_flags_of_impostors_are_refused(title, tmp_path):
    table = pd.DataFrame({"distance": D[A, B], title: ~SAME})
    np.savez(tmp_path / "x.npz", scores=D[A, B], **{title: ~SAME})
    for source in (table, put(tmp_path, table), tmp_path / "x.npz"):
        for columns in ({}, {"genuine": title}):
            with pytest.raises(be.DataError, match=f"'{title}' marks the impostor pairs"):
                be.load(source, columns=columns, kind=None if source is table else "distance")
    table["genuine"] = 1 - table[title]
    assert numbers(be.load(table)) == pytest.approx(numbers(OF_DISTANCES))


@pytest.mark.parametrize("separator", [";", ",", "\t", " "])
def test_decimal_commas_have_a_remedy(separator, tmp_path):
    path = put(tmp_path, NAMED_PAIRS.to_csv(index=False, sep=separator, decimal=","))
    with pytest.raises(be.DataError, match="not a comma") as error:
        be.load(path)
    (remedy,) = re.findall(r"`(pd\.read_csv\(.*?\))`", str(error.value))
    table = eval(remedy, {"pd": pd, "path": path})
    assert numbers(be.load(table)) == pytest.approx(numbers(OF_DISTANCES))


def test_names_in_two_unicode_forms_are_one_name(tmp_path):
    people = ["José", "Zoë", "Ali", "Ça", "Émile", "Ån"]
    forms = {f: [unicodedata.normalize(f, people[k]) for k in WHO] for f in ("NFC", "NFD")}
    table = PAIRS.assign(
        subject_a=np.array(forms["NFC"])[A].tolist(), subject_b=np.array(forms["NFD"])[B].tolist()
    )
    for source in (table, put(tmp_path, table)):
        assert numbers(be.load(source)) == pytest.approx(numbers(OF_DISTANCES))
    templates = {f: [f"{x}{k}" for k, x in enumerate(forms[f])] for f in forms}
    matrix = pd.DataFrame(D, index=templates["NFC"], columns=templates["NFC"])
    labels = pd.Series(WHO, index=templates["NFD"])[::-1]
    assert numbers(be.Scores(matrix, labels)) == pytest.approx(numbers(OF_DISTANCES))
    with pytest.warns(be.BioevalWarning, match=r"Unicode form .*'C\\u0327a'"):
        be.verification(be.Scores(D, forms["NFC"], forms["NFD"], shared=False))


def test_nearest_entries_beside_distances_are_asked_about(tmp_path):
    order = np.argsort(D, axis=1)[:, :5]
    np.savez(tmp_path / "x.npz", I=order, D=np.take_along_axis(D, order, axis=1), labels=WHO)
    with pytest.raises(be.DataError, match=r'of top-K lists, `columns=\{"indices": ...'):
        be.load(tmp_path / "x.npz")
    lists = be.load(tmp_path / "x.npz", columns={"indices": "I", "scores": "D"})
    assert lists.layout == "top-k"


def test_subjects_in_the_names_of_embeddings(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["embeddings"] = X
        file["filenames"] = np.array(NAMES, dtype="S")
    with pytest.raises(be.DataError, match="names of 'filenames', `subject_from`"):
        be.load(tmp_path / "x.h5")
    scores = be.load(tmp_path / "x.h5", subject_from=PATTERN)
    assert numbers(scores) == pytest.approx(numbers(OF_COSINES))
