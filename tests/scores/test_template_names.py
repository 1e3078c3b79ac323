"""Templates with one name are one template, in every task, layout and reader."""

import numpy as np
import pandas as pd
import pytest
from named_arguments import refused

import bioeval as be

LABELS = np.repeat(["ann", "bob", "cem", "dan"], 3)
NAMES = np.array([f"{who}/{i}.png" for i, who in enumerate(LABELS)])
FEATURES = np.random.default_rng(7).normal(size=(12, 3)) + np.repeat(np.eye(4, 3), 3, axis=0)
SQUARE = np.linalg.norm(FEATURES[:, None] - FEATURES[None], axis=2)
ROWS, COLUMNS = np.array([0, 4, 5, 7, 10]), np.array([5, 8, 0, 2, 3, 11, 10, 6, 1])
MATRIX = SQUARE[np.ix_(ROWS, COLUMNS)]
SAME = ROWS[:, None] == COLUMNS
GENUINE = (LABELS[ROWS][:, None] == LABELS[COLUMNS]) & ~SAME
IMPOSTOR = LABELS[ROWS][:, None] != LABELS[COLUMNS]


PEOPLE = LABELS[ROWS], LABELS[COLUMNS]


def sides(column: str = "name", names: np.ndarray = NAMES) -> dict:
    return {"probe_meta": {column: names[ROWS]}, "gallery_meta": {column: names[COLUMNS]}}


def named(column: str = "name", names: np.ndarray = NAMES) -> be.Scores:
    return be.Scores(MATRIX, *PEOPLE, **sides(column, names))


def selected() -> be.Scores:
    """The same comparisons as a selection of all, in which templates are known by their places."""
    return be.Scores(SQUARE, LABELS).select(probes=ROWS, gallery=COLUMNS)


def attempts(scores: be.Scores) -> tuple[int, int]:
    result = be.verification(scores)
    return int(result.genuine_attempts), int(result.impostor_attempts)


def test_counts_labels_and_photographs_name_no_templates():
    all_attempts = (MATRIX.size - int(IMPOSTOR.sum()), int(IMPOSTOR.sum()))
    for first in (0, 1):
        counts = np.arange(first, first + 5), [str(i) for i in range(first, first + 9)]
        meta = {"probe_meta": {"name": counts[0]}, "gallery_meta": {"name": counts[1]}}
        assert attempts(be.Scores(MATRIX, *PEOPLE, **meta)) == all_attempts
    photograph = named("file", np.repeat("party.jpg", 12))  # several faces of one photograph
    assert attempts(photograph) == all_attempts
    two, people = ["ann", "bob"], {"name": ["ann", "bob"]}
    one_each = be.Scores(np.eye(2), two, two, probe_meta=people, gallery_meta=people)
    assert attempts(one_each) == (2, 2)


@pytest.mark.parametrize(
    "count",
    [
        lambda s: be.verification(s).eer,
        lambda s: be.verification(s, templates="multi").eer,
        lambda s: be.open_set(s, impostors="leave-subject-out").eer,
        lambda s: be.closed_set(s, unmated="skip").cms,
        lambda s: be.reid(s, "vehicleid").mean_ap,
        lambda s: be.reid(s, "vehicleid", cmc="identity-dedup").cmc,
        lambda s: be.verification(be.claim_scores(s)).eer,
        lambda s: be.evaluate(s)["verification/single"].frr_at_far,
        lambda s: be.gom(s, convention="vehicleid", budget=10).mrep,
    ],
)
def test_every_task_leaves_them_out(count):
    streamed = be.Scores.from_embeddings(
        FEATURES[ROWS], PEOPLE[0], FEATURES[COLUMNS], PEOPLE[1], metric="l2", **sides()
    )
    expected = np.asarray(count(selected()))
    for scores in (named(), streamed):
        np.testing.assert_allclose(np.asarray(count(scores)), expected)


def test_queries_leave_their_own_lists():
    ids = np.argsort(MATRIX, axis=1)[:, :6]
    lists = be.Scores.from_top_k(ids, *PEOPLE, **sides())
    position = [list(COLUMNS).index(row) if row in COLUMNS else -1 for row in ROWS]
    stated = be.Scores.from_top_k(ids, *PEOPLE, query_positions=position)
    np.testing.assert_array_equal(lists.indices, stated.indices)
    with refused("has the name of entry"):
        be.Scores.from_top_k(ids, *PEOPLE, query_positions=[-1, -1, 0, -1, 5], **sides())


def test_pairs_know_the_names_of_their_metadata():
    names = [["1.png", "1.png"], ["1.png", "2.png"], ["1.png", "3.png"]]
    pairs = be.Scores.from_pairs([0.0, 0.2, 0.7], [1, 1, 0], meta={"name": names})
    assert pairs.shape == (2,)
    subjects = [["ann", "bob"], ["eve", "bob"]]
    with refused("'1.png' is of two subjects"):
        be.Scores.from_pairs([0.1, 0.2], [0, 0], pair_templates=names[1:], subjects=subjects)


# ------------------------------------------------------------------------------- tables

TABLE = pd.DataFrame(SQUARE, index=NAMES, columns=NAMES)
OF_LABELS = pd.DataFrame(SQUARE, index=LABELS, columns=LABELS)
OWNERS = pd.Series(LABELS, index=NAMES)


def test_a_table_has_its_labels_or_its_names():
    plain = be.Scores(OF_LABELS)
    assert plain.layout == "all-against-all" and plain.probe_labels.tolist() == LABELS.tolist()
    np.testing.assert_array_equal(plain.values, SQUARE)
    part = be.Scores(OF_LABELS.iloc[:2])
    assert part.layout == "probe-against-gallery" and part.gallery_labels.tolist() == [*LABELS]
    numbered = OF_LABELS.set_axis([7] * 6 + [8] * 6).set_axis([7] * 6 + [8] * 6, axis=1)
    assert be.Scores(numbered).probe_labels.tolist() == [7] * 6 + [8] * 6
    assert attempts(be.Scores(numbered, LABELS)) == (24, 108)  # numbers of rows may stand twice
    with refused("the name 'ann' stands twice, in rows 0, 1"):
        be.Scores(OF_LABELS, LABELS[::-1])
    eer = float(be.verification(be.Scores(SQUARE, LABELS)).eer)
    for sides in ((LABELS[::-1],), (LABELS[::-1], LABELS)):
        turned = be.Scores(TABLE.iloc[::-1], *sides)
        assert float(be.verification(turned).eer) == eer
        assert turned.gallery_labels.tolist() == LABELS.tolist()
    counted = (int(GENUINE.sum()), int(IMPOSTOR.sum()))
    assert attempts(be.Scores(TABLE.iloc[ROWS, COLUMNS], *PEOPLE)) == counted
    assert attempts(be.Scores(OF_LABELS)) == (24, 108)
    assert attempts(be.Scores(OF_LABELS, LABELS, LABELS)) == (36, 108)
    single = pd.DataFrame(SQUARE[::3, 1::3], index=LABELS[::3], columns=LABELS[::3])
    assert attempts(be.Scores(single, LABELS[::3], LABELS[::3])) == (4, 12)
    turned, names = OF_LABELS.iloc[::-1], {"probe_meta": {"name": NAMES[::-1]}}
    assert attempts(be.Scores(turned, gallery_meta={"name": NAMES}, **names)) == (24, 108)
    for sides in ((turned,), (turned, LABELS[::-1])):
        with refused("in another order"):
            be.Scores(*sides)
    for table, labels, message in (
        (TABLE.iloc[:5, 1:6], (LABELS[:5],), "`gallery_labels` is missing"),
        (pd.DataFrame(SQUARE), (), "`labels` is missing"),  # the numbers of rows are no labels
        (TABLE.astype("Float64").astype(object), (LABELS,), "dtype object"),
    ):
        with refused(message):
            be.Scores(table, *labels)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda twice: named(names=twice), "'bob/4.png' stands twice, in rows 1, 2"),
        (
            lambda twice: be.Scores(
                SQUARE, LABELS, LABELS, probe_meta={"name": NAMES}, gallery_meta={"name": twice}
            ),
            "twice, in columns",
        ),
        (lambda twice: be.Scores(SQUARE, LABELS, probe_meta={"template": twice}), "twice"),
        (
            lambda _: be.Scores(MATRIX, ["dan", *PEOPLE[0][1:]], PEOPLE[1], **sides()),
            "'ann/0.png' is of two people, .*'dan' in row 0 and 'ann' in column 2",
        ),
        (
            lambda _: be.Scores(TABLE, OWNERS.drop(NAMES[[4, 7]])),
            r"`labels` has no value of the template 'bob/4.png' \(row.* and of 2 of 12 templates",
        ),
    ],
)
def test_names_that_contradict_are_errors(make, message):
    with refused(message):
        make(np.where(np.arange(12) == 5, NAMES[4], NAMES))


def test_a_column_of_a_file_that_may_hold_names_is_asked_about(tmp_path):
    same = int((LABELS[:8, None] == LABELS).sum())
    all_attempts, without_self = (same, 8 * 12 - same), (same - 8, 8 * 12 - same)
    arrays = {"scores": SQUARE[:8], "probe_labels": LABELS[:8], "gallery_labels": LABELS}
    clip = {"probe_clip": NAMES[:8], "gallery_clip": NAMES, "kind": "distance"}
    np.savez(tmp_path / "x.npz", **arrays, **clip)
    with refused(r'columns=\{"name": None\}'):
        be.load(tmp_path / "x.npz")
    assert attempts(be.load(tmp_path / "x.npz", columns={"name": None})) == all_attempts
    assert attempts(be.load(tmp_path / "x.npz", columns={"name": "clip"})) == without_self
