"""Labels of no person: impostors to all people, in every task, and no two of them are compared."""

import itertools
import json

import naive
import numpy as np
import pandas as pd
import pytest
from json_rows import value
from limits import streaming
from named_arguments import raises_about
from reference import assert_all_tasks
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main

TEXTS = ["ann", "bob", "Nan", "Dan"]
NOBODY = [
    "unknown",
    " Unknown ",
    "UNIDENTIFIED",
    "new_individual",
    "n/a",
    "None",
    "null",
    "NaN",
    "#N/A",
    "<NA>",
    "?",
    "-",
    "-1",
    "",
]
WORLDS = range(25)
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


def world(seed: int, *, square: bool) -> dict:
    """Scores with ties, as naive.py takes them."""
    rng = np.random.default_rng(seed)
    m = n = int(rng.integers(4, 9))
    if not square:
        n = int(rng.integers(3, 9))
    labels = labels_of(rng, m + n)
    if all(map(naive.is_nobody, labels)):
        labels[0] = labels[-1] = "ann"
    kind = ("distance", "similarity")[seed % 2]
    gallery = None if square else labels[m:]
    values = rng.integers(0, 8, (m, n)).astype(float)
    return {"values": values, "probe_labels": labels[:m], "gallery_labels": gallery, "kind": kind}


def scores_of(case: dict, **options) -> be.Scores:
    sides = [case["probe_labels"], case["gallery_labels"]]
    return be.Scores(case["values"], *sides, kind=case["kind"], **options)


def plain_attempts(case: dict) -> tuple[list, list]:
    """Genuine and impostor scores of a matrix, by the rule alone."""
    probes, gallery = case["probe_labels"], case["gallery_labels"] or case["probe_labels"]
    attempts: tuple[list, list] = ([], [])
    for i, j in itertools.product(range(len(probes)), range(len(gallery))):
        nobody = naive.is_nobody(probes[i]) + naive.is_nobody(gallery[j])
        if nobody == 2 or case["gallery_labels"] is None and i == j:
            continue
        attempts[nobody == 1 or probes[i] != gallery[j]].append(case["values"][i][j])
    return attempts


def found_attempts(scores: be.Scores) -> tuple[list, list]:
    ds = be.verification(scores, thresholds=THRESHOLDS)
    return [ds[x].values.tolist() for x in ("ga", "fa", "genuine_attempts", "impostor_attempts")]


def expected_attempts(attempts: tuple[list, list], kind: str) -> list:
    ga, _, fa, _ = naive.verification_counts(*attempts, THRESHOLDS, kind)
    return [ga, fa, *map(len, attempts)]


# ------------------------------------------------------------------ a matrix, embeddings


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("seed", WORLDS)
def test_every_task_equals_the_definition(seed, square):
    case = world(seed, square=square)
    assert_all_tasks(scores_of(case), THRESHOLDS, **case)
    assert found_attempts(scores_of(case)) == expected_attempts(plain_attempts(case), case["kind"])
    nobody = [sum(map(naive.is_nobody, case[x] or [])) for x in ("probe_labels", "gallery_labels")]
    assert ("no-person" in codes(be.verification(scores_of(case)))) == any(nobody)


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_embeddings_equal_the_definition_in_rows_and_tiles(seed, square):
    rng = np.random.default_rng(seed)
    labels = [*labels_of(rng, 40), *"ab"]
    embeddings = rng.integers(0, 4, (42, 2)).astype(float)
    cut = 42 if square else 20
    sides = (
        (embeddings, labels)
        if square
        else (embeddings[:cut], labels[:cut], embeddings[cut:], labels[cut:])
    )
    gallery_embeddings = embeddings if square else embeddings[cut:]
    case = {
        "values": np.abs(embeddings[:cut, None] - gallery_embeddings).sum(axis=2),
        "probe_labels": labels[:cut],
        "gallery_labels": None if square else labels[cut:],
        "kind": "distance",
    }
    for scores in (be.Scores.from_embeddings(*sides, metric="l1"), streaming(*sides, metric="l1")):
        assert_all_tasks(scores, THRESHOLDS, **case)


# ------------------------------------------------------------------ which labels


def test_ids_say_which_labels_are_of_no_person():
    labels, distances = (
        ["unknown", "unknown", "ann", "ann", "X", "x", ""],
        np.arange(49.0).reshape(7, 7),
    )
    for ids, nobody in (
        (None, [0, 1, 6]),
        ((), [6]),
        (["x"], [4, 5, 6]),
        (["ANN ", "unknown"], [0, 1, 2, 3, 6]),
        ([5], [6]),
    ):
        scores = be.Scores(distances, labels, distractor_ids=ids)
        names = [None if i in nobody else f"name {x}" for i, x in enumerate(labels)]
        case = {
            "values": distances,
            "probe_labels": names,
            "gallery_labels": None,
            "kind": "distance",
        }
        assert found_attempts(scores) == expected_attempts(plain_attempts(case), "distance")
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


def pairs_of(case: dict) -> pd.DataFrame:
    """All comparisons of a matrix of two sides as a list."""
    lines = itertools.product(range(len(case["probe_labels"])), range(len(case["gallery_labels"])))
    rows = [
        (case["gallery_labels"][j], case["probe_labels"][i], case["values"][i][j]) for i, j in lines
    ]
    return pd.DataFrame(rows, columns=["subject_a", "subject_b", case["kind"]])


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("seed", WORLDS)
def test_a_list_without_classes_has_those_of_its_subjects(seed, tmp_path):
    case = world(seed, square=False)
    table, expected = pairs_of(case), expected_attempts(plain_attempts(case), case["kind"])
    if not sum(expected[2:]):
        return
    table.to_csv(tmp_path / "x.csv", index=False)
    rows, columns = np.indices(case["values"].shape).reshape(2, -1)
    for scores in (
        be.load(tmp_path / "x.csv"),
        be.load(table),
        scores_of(case).at_pairs(rows, columns),
    ):
        assert found_attempts(scores) == expected
        two = len(table) - sum(expected[2:])
        said = [x.arguments["pairs"] for x in be.messages(be.verification(scores))
                if x.code == "pairs-of-no-person"]  # fmt: skip
        assert said == [two] * (two > 0)


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("seed", range(8))
def test_stated_classes_decide(seed, tmp_path):
    case = world(seed, square=False)
    table = pairs_of(case)
    nobodies = table[["subject_a", "subject_b"]].map(naive.is_nobody)
    nobody, of_somebody = nobodies.any(axis=1), ~nobodies.all(axis=1)
    same = [a == b for a, b in zip(table["subject_a"], table["subject_b"], strict=True)]
    chance = np.random.default_rng(seed).random(len(table)) < 0.5
    table["genuine"] = np.where(nobody, chance, same).astype(int)
    values = table[case["kind"]].to_numpy()
    attempts = tuple(values[of_somebody & (table["genuine"] == x)].tolist() for x in (1, 0))
    table.to_csv(tmp_path / "x.csv", index=False)
    subjects = table[["subject_a", "subject_b"]].to_numpy(dtype=object)
    constructed = be.Scores.from_pairs(
        values, table["genuine"], subjects=subjects, kind=case["kind"]
    )
    for scores in (be.load(tmp_path / "x.csv"), be.load(table), constructed):
        assert found_attempts(scores) == expected_attempts(attempts, case["kind"])
        labels = [*case["probe_labels"], *case["gallery_labels"]]
        people = {str(x) for x in labels if not naive.is_nobody(x)}
        assert {*map(str, scores.subjects)} == people


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("square", [True, False])
def test_labels_of_a_file_may_be_blank(seed, square, tmp_path):
    case = world(seed, square=square)
    np.save(tmp_path / "x.npy", case["values"])
    sides = {"probe": case["probe_labels"], "gallery": case["gallery_labels"]}
    options = {}
    for option, side in zip(("labels", "gallery"), ("probe", "gallery"), strict=True):
        if sides[side] is not None:
            options[option] = tmp_path / f"{side}.csv"
            table = pd.DataFrame({"subject": sides[side], "day": 1})
            table[["subject"] if seed % 2 else ["subject", "day"]].to_csv(
                options[option], index=False
            )
    read = be.load(tmp_path / "x.npy", kind=case["kind"], **options)
    assert found_attempts(read) == expected_attempts(plain_attempts(case), case["kind"])


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
        assert found_attempts(scores) == expected_attempts(plain_attempts(case), "distance")


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
