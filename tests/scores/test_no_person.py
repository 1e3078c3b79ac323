"""Labels of no person: impostors to all people, in every task, and no two of them are compared."""

import json

import naive
import numpy as np
import pandas as pd
import pytest
from json_rows import value
from label_doors import DOORS, Labelled
from named_arguments import raises_about
from reference import assert_all_tasks
from result_messages import arguments

import bioeval as be
from bioeval.cli import main

TEXTS = ["ann", "bob", "Nan", "Dan"]
NOBODY = [
    *("unknown", " Unknown ", "UNIDENTIFIED", "new_individual", "n/a", "None", "null", "NaN"),
    *("#N/A", "<NA>", "?", "-", "-1", ""),
]
THRESHOLDS = np.arange(-1.0, 9.0)


def labels_of(rng: np.random.Generator, number: int) -> list:
    """Labels of a few people, about a third of them of nobody, of texts or of numbers."""
    people, nobody = (
        (TEXTS, [*NOBODY, None, np.nan]) if rng.random() < 0.6 else ([1, 2, 7], [-1, None])
    )
    if rng.random() < 0.2:
        people, nobody = [1, 2, 7], [-1, None, np.nan, "unknown", "N/A"]
    is_nobody = rng.random(number) < 0.35
    return [
        nobody[rng.integers(len(nobody))] if x else people[rng.integers(len(people))]
        for x in is_nobody
    ]


def world(seed: int, *, square: bool, kind: str | None = None) -> Labelled:
    """Scores with ties; of distances, those of embeddings."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(4, 9)), 0 if square else int(rng.integers(3, 9))
    labels = labels_of(rng, m + n)
    if all(map(naive.is_nobody, labels)):
        labels[0] = labels[-1] = "ann"
    points = rng.integers(0, 4, (m + n, 2)).astype(float)
    values = np.abs(points[:m, None] - (points if square else points[m:])).sum(axis=2)
    kind = kind or ("distance", "similarity")[seed % 2]
    values = values if kind == "distance" else 7 - values
    return Labelled(values, labels[:m], None if square else labels[m:], kind, points)


def case_of(given: Labelled) -> dict:
    """The world as naive.py takes it."""
    case = {"values": given.values, "probe_labels": given.probes, "kind": given.kind}
    return case | {"gallery_labels": given.gallery}


def found_attempts(scores: be.Scores) -> tuple[list, list]:
    ds = be.verification(scores, thresholds=THRESHOLDS)
    return [ds[x].values.tolist() for x in ("ga", "fa", "genuine_attempts", "impostor_attempts")]


def expected_attempts(attempts: tuple[list, list], kind: str) -> list:
    ga, _, fa, _ = naive.verification_counts(*attempts, THRESHOLDS, kind)
    return [ga, fa, *map(len, attempts)]


# ------------------------------------------------------------------ every door


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.cases(6)
def test_every_door_equals_the_definition(door, square, tmp_path):
    first = 6 * [*DOORS].index(door)
    for seed in range(first, first + 6):
        kind = "distance" if door in ("embeddings", "tiles") else None
        given = world(seed, square=square, kind=kind)
        expected = expected_attempts(naive.attempts_single(**case_of(given)), given.kind)
        if not sum(expected[2:]):
            continue
        scores, labels = DOORS[door](given, tmp_path), sum(given.sides, [])
        assert found_attempts(scores) == expected
        said = {x.code: x.arguments for x in be.messages(be.verification(scores))}
        if scores.layout == "pairs":
            two = len(given.cells()[0]) - sum(expected[2:])
            assert said.get("pairs-of-no-person", {"pairs": 0})["pairs"] == two
            assert {*map(str, scores.subjects)} <= {
                str(x) for x in labels if not naive.is_nobody(x)
            }
            continue
        assert ("no-person" in said) == any(map(naive.is_nobody, labels))
        if seed < first + 2:
            assert_all_tasks(scores, THRESHOLDS, **case_of(given))


# ------------------------------------------------------------------ which labels


def test_ids_say_which_labels_are_of_no_person():
    labels = ["unknown", "unknown", "ann", "ann", "X", "x", ""]
    distances = np.arange(49.0).reshape(7, 7)
    for ids, nobody in (
        (None, [0, 1, 6]),
        ((), [6]),
        (["x"], [4, 5, 6]),
        (["ANN ", "unknown"], [0, 1, 2, 3, 6]),
        ([5], [6]),
    ):
        scores = be.Scores(distances, labels, distractor_ids=ids)
        names = [None if i in nobody else f"name {x}" for i, x in enumerate(labels)]
        case = {"values": distances, "probe_labels": names, "gallery_labels": None}
        assert found_attempts(scores) == expected_attempts(
            naive.attempts_single(**case), "distance"
        )
        said = arguments(be.verification(scores), "no-person")
        assert said["templates"] == f"{len(nobody)} template{'s' * (len(nobody) > 1)}"
    for wrong in ("x", [0.5], 0, [None]):
        with raises_about(be.DataError, "distractor_ids"):
            be.Scores(distances, labels, distractor_ids=wrong)


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet"])
@pytest.mark.cases(3)
def test_files_keep_who_is_no_person(tmp_path, suffix):
    labels = ["ann", "ann", "x", "3", "unknown", "unknown"]
    # A list has the words alone, of which "unknown" is nobody again.
    worlds = [(labels, ids) for ids in (None, (), ("x", 3)) if ids is None or suffix == "npz"]
    for people, ids in [*worlds, ([1, None, 1], None), ([1, 1, 2, 2, 0, 0, -1], (0, -1))]:
        values = np.arange(float(len(people) ** 2)).reshape(len(people), -1)
        scores = be.Scores(values, people, distractor_ids=ids)
        be.save(scores, tmp_path / f"x.{suffix}")
        read = be.load(tmp_path / f"x.{suffix}")
        assert found_attempts(read) == found_attempts(scores)
        if suffix == "npz":
            assert (read.distractor_ids is None) == (ids is None)
    # A person of that name, in a matrix or in pairs, is kept or refused.
    of_matrix = be.Scores(
        np.arange(16.0).reshape(4, 4), ["unknown"] * 2 + ["b"] * 2, distractor_ids=()
    )
    for scores in (of_matrix, of_matrix.at_pairs(*np.triu_indices(4, 1))):
        if suffix == "npz":
            be.save(scores, tmp_path / "person.npz")
            read = be.verification(be.load(tmp_path / "person.npz"))
            assert read.genuine_attempts == be.verification(scores).genuine_attempts
            continue
        with pytest.raises(be.DataError, match="'unknown' is a person here"):
            be.save(scores, tmp_path / f"person.{suffix}")
    np.savez(tmp_path / "y.npz", scores=np.eye(2), labels=[0, 1], distractor_ids=[0.5])
    with pytest.raises(be.DataError, match=r"`distractor_ids` is 0\.5; expected an integer"):
        be.load(tmp_path / "y.npz")


# ------------------------------------------------------------------ pairs, and files


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("seed", range(8))
def test_stated_classes_decide(seed, tmp_path):
    given = world(seed, square=False)
    table = given.frame()
    subjects = table[["gallery_subject", "probe_subject"]].to_numpy()
    nobody = [naive.is_nobody(a) + naive.is_nobody(b) for a, b in subjects]
    chance = np.random.default_rng(seed).random(len(table)) < 0.5
    stated = [x if n else a == b for x, n, (a, b) in zip(chance, nobody, subjects, strict=True)]
    table["genuine"] = np.int64(stated)
    attempts: tuple[list, list] = ([], [])
    for score, is_genuine, n in zip(table[given.kind], stated, nobody, strict=True):
        if n < 2:
            attempts[not is_genuine].append(score)
    table.to_csv(tmp_path / "x.csv", index=False)
    constructed = be.Scores.from_pairs(
        table[given.kind], stated, subjects=subjects, kind=given.kind
    )
    for scores in (be.load(tmp_path / "x.csv"), be.load(table), constructed):
        assert found_attempts(scores) == expected_attempts(attempts, given.kind)
        people = {str(x) for x in sum(given.sides, []) if not naive.is_nobody(x)}
        assert {*map(str, scores.subjects)} == people


def test_a_matrix_may_have_blank_names_of_subjects(tmp_path):
    names = ["ann", "unknown", "bob", "", "ann"]
    values = np.arange(25.0).reshape(5, 5)
    case = {"values": values, "probe_labels": names, "gallery_labels": None, "kind": "distance"}
    lines = [",".join(["label", *names])]
    lines += [",".join([name, *map(str, row)]) for name, row in zip(names, values, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    table = pd.DataFrame(values, columns=[x or None for x in names])
    table.insert(0, "label", [x or None for x in names])
    for source in (tmp_path / "x.csv", table):
        scores = be.load(source, kind="distance")
        assert scores.layout == "all-against-all"
        assert found_attempts(scores) == expected_attempts(
            naive.attempts_single(**case), "distance"
        )


def test_a_table_of_templates_may_be_blank_and_commands_take_names(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("template_a,template_b,distance\na,b,1\na,c,2\nc,d,3\nb,d,4\n")
    (tmp_path / "t.csv").write_text("template,subject\na,ann\nb,\nc,ann\nd,unknown\n")
    scores = be.load(tmp_path / "x.csv", labels=tmp_path / "t.csv")
    assert scores.genuine.tolist() == [False, True, False]
    assert scores.values.tolist() == [1, 2, 3]
    (tmp_path / "y.csv").write_text("subject_a,subject_b,distance\nunknown,unknown,1\na,b,2\n")
    arguments = ["run", str(tmp_path / "y.csv"), "--distractor-ids", "", "--json"]
    assert main(arguments) == 0
    assert value(json.loads(capsys.readouterr().out), "genuine_attempts") == 1
    named = be.load(tmp_path / "y.csv", distractor_ids=())
    assert named.genuine.tolist() == [True, False]


# ------------------------------------------------------------------ other calls


def test_re_identification_keeps_its_conventions():
    """Junk is removed where a card says so; other labels of nobody are distractors."""
    rng = np.random.default_rng(0)
    query, gallery = ["1", "2", "unknown", "-1"], ["1", "2", "1", "-1", "unknown", "", "2"]
    distances, cameras = rng.permutation(28).reshape(4, 7), {"removed": "none"}
    dataset = be.reid(be.Scores(distances, query, gallery), "market1501", **cameras)
    columns_of_people = [j for j, x in enumerate(gallery) if x != "-1"]
    precision = []
    for i in (0, 1):
        order = sorted(columns_of_people, key=lambda j, i=i: distances[i, j])
        hits = [k for k, j in enumerate(order, 1) if gallery[j] == query[i]]
        precision.append(np.mean([n / k for n, k in enumerate(hits, 1)]))
    assert float(dataset.mean_ap) == pytest.approx(np.mean(precision))
    assert (int(dataset.queries), int(dataset.left_out)) == (2, 2)
    assert dataset.attrs["reading"] == "distractors: identity 'unknown', missing"


def test_people_of_no_name_are_no_subjects_of_studies():
    rng = np.random.default_rng(1)
    labels = [*np.repeat([f"p{i}" for i in range(8)], 4).tolist(), *["unknown"] * 6, *[None] * 4]
    embeddings = (
        rng.normal(size=(len(labels), 3))
        + np.array([len(set(labels[:i])) for i in range(len(labels))])[:, None]
    )
    scores = be.Scores.from_embeddings(embeddings, labels, metric="l2")
    assert len(scores.subjects) == int(be.verification(scores).subjects) == 8
    splitter = be.partition.SubjectKFold(4)
    for part in splitter.split(scores):
        assert set(range(32, 42)) <= set(part.train) and set(range(32, 42)) <= set(part.test)
    (finding,) = [x for x in be.check_data(scores).findings if x.check == "labels"]
    assert (finding.severity, finding.count, finding.where) == ("note", 10, "'unknown', missing")


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
def test_where_nobody_is_a_person_there_are_no_attempts():
    scores = be.Scores(np.arange(25.0).reshape(5, 5), ["unknown"] * 5)
    dataset = be.verification(scores, interval="people")
    assert (int(dataset.genuine_attempts), int(dataset.impostor_attempts)) == (0, 0)
    assert np.isnan(dataset.eer)
    assert np.isnan(be.open_set(scores).eer)
    assert int(be.closed_set(scores).skipped) == 5
    assert "error" in [x.severity for x in be.check_data(scores).findings]
