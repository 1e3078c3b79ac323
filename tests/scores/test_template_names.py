"""Templates with one name are one template, in every task, layout and reader."""

import numpy as np
import pytest
from optional import optional_import

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


def named(column: str = "name", names: np.ndarray = NAMES, **options) -> be.Scores:
    return be.Scores(
        MATRIX, LABELS[ROWS], LABELS[COLUMNS],
        probe_meta={column: names[ROWS]}, gallery_meta={column: names[COLUMNS]}, **options,
    )  # fmt: skip


def selected() -> be.Scores:
    """The same comparisons as a selection of all, in which templates are known by their places."""
    return be.Scores(SQUARE, LABELS).select(probes=ROWS, gallery=COLUMNS)


def attempts(scores: be.Scores) -> tuple[int, int]:
    result = be.verification(scores)
    return int(result.genuine_attempts), int(result.impostor_attempts)


COUNTED = (int(GENUINE.sum()), int(IMPOSTOR.sum()))


def test_the_example_of_the_definition():
    x = np.array([[0.0, 0], [3, 0], [1, 0]])
    scores = be.Scores.from_embeddings(
        x[:1], ["a"], x, ["a", "a", "b"], metric="l2",
        probe_meta={"name": ["1.jpg"]}, gallery_meta={"name": ["1.jpg", "2.jpg", "3.jpg"]},
    )  # fmt: skip
    found = be.reid(scores, "vehicleid")
    assert float(found.mean_ap) == 0.5
    assert float(found.cmc.sel(rank=1)) == 0.0


@pytest.mark.parametrize("column", ["name", "template", "file", "path", "image", "names", "files"])
def test_columns_of_names_are_known(column):
    assert attempts(named(column)) == COUNTED


def test_numbers_name_templates_but_do_not_where_they_only_count():
    assert attempts(named("template", np.arange(40, 52))) == COUNTED
    every = (MATRIX.size - int(IMPOSTOR.sum()), int(IMPOSTOR.sum()))
    for first in (0, 1):
        counting = be.Scores(
            MATRIX, LABELS[ROWS], LABELS[COLUMNS],
            probe_meta={"name": np.arange(first, first + 5)},
            gallery_meta={"name": [str(i) for i in range(first, first + 9)]},
        )  # fmt: skip
        assert attempts(counting) == every


def test_labels_and_columns_of_other_things_are_no_names():
    one_each = be.Scores(
        [[0.1, 0.9], [0.8, 0.2]], ["ann", "bob"], ["ann", "bob"],
        probe_meta={"name": ["ann", "bob"]}, gallery_meta={"name": ["ann", "bob"]},
    )  # fmt: skip
    assert attempts(one_each) == (2, 2)
    photograph = named("file", np.repeat("party.jpg", 12))  # several faces of one photograph
    assert attempts(photograph) == (COUNTED[0] + int(SAME.sum()), COUNTED[1])


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
    expected = np.asarray(count(selected()))
    np.testing.assert_allclose(np.asarray(count(named())), expected)
    streamed = be.Scores.from_embeddings(
        FEATURES[ROWS], LABELS[ROWS], FEATURES[COLUMNS], LABELS[COLUMNS], metric="l2",
        probe_meta={"name": NAMES[ROWS]}, gallery_meta={"name": NAMES[COLUMNS]},
    )  # fmt: skip
    np.testing.assert_allclose(np.asarray(count(streamed)), expected)


def test_all_templates_on_both_sides_in_other_orders_are_all_against_all():
    order = np.random.default_rng(1).permutation(12)
    scores = be.Scores(
        SQUARE[order], LABELS[order], LABELS,
        probe_meta={"name": NAMES[order]}, gallery_meta={"name": NAMES},
    )  # fmt: skip
    square = be.Scores(SQUARE, LABELS)
    assert scores.layout == "all-against-all"
    for task in (be.verification, be.open_set):
        assert float(task(scores).eer) == float(task(square).eer)


# ------------------------------------------------------------------------------- lists


def test_queries_leave_their_own_lists():
    ids = np.argsort(MATRIX, axis=1)[:, :6]
    how = {
        "probe_meta": {"name": NAMES[ROWS]},
        "gallery_meta": {"name": NAMES[COLUMNS]},
    }
    lists = be.Scores.from_top_k(ids, LABELS[ROWS], LABELS[COLUMNS], **how)
    for row, found in zip(ROWS, lists.indices, strict=True):
        assert row not in COLUMNS[found[found >= 0]]
    position = [list(COLUMNS).index(row) if row in COLUMNS else -1 for row in ROWS]
    stated = be.Scores.from_top_k(ids, LABELS[ROWS], LABELS[COLUMNS], query_positions=position)
    np.testing.assert_array_equal(lists.indices, stated.indices)
    wrong = [x if x != 0 else 1 for x in position]
    assert wrong != position
    with pytest.raises(be.DataError, match="has the name of entry"):
        be.Scores.from_top_k(
            ids, LABELS[ROWS], np.where(COLUMNS >= 0, LABELS[COLUMNS], ""),
            query_positions=[-1, -1, 0, -1, 5], **how,
        )  # fmt: skip


def test_pairs_know_the_names_of_their_metadata():
    pairs = be.Scores.from_pairs(
        [0.0, 0.2, 0.7], [1, 1, 0],
        meta={"name": [["1.png", "1.png"], ["1.png", "2.png"], ["1.png", "3.png"]]},
    )  # fmt: skip
    assert pairs.shape == (2,)
    with pytest.raises(be.DataError, match="'1.png' is of two subjects"):
        be.Scores.from_pairs(
            [0.1, 0.2], [0, 0], pair_templates=[["1.png", "2.png"], ["1.png", "3.png"]],
            subjects=[["ann", "bob"], ["eve", "bob"]],
        )  # fmt: skip


# ------------------------------------------------------------------------------- readers


def written(folder, kind: str) -> be.Scores:
    """The same matrix with names, read from a file of a kind."""
    sides = {"probe": ROWS, "gallery": COLUMNS}
    for side, places in sides.items():
        lines = [f"{LABELS[i]},{NAMES[i]}" for i in places]
        (folder / f"x.{side}.csv").write_text("\n".join(["label,file", *lines]))
    if kind == "npz":
        np.savez(
            folder / "x.npz", scores=MATRIX, kind="distance", probe_labels=LABELS[ROWS],
            gallery_labels=LABELS[COLUMNS], probe_name=NAMES[ROWS], gallery_name=NAMES[COLUMNS],
        )  # fmt: skip
        return be.load(folder / "x.npz")
    if kind == "npy":
        np.save(folder / "x.npy", MATRIX)
        return be.load(folder / "x.npy", kind="distance")
    if kind == "embeddings":
        np.save(folder / "p.npy", FEATURES[ROWS])
        np.save(folder / "g.npy", FEATURES[COLUMNS])
        (folder / "g.labels.csv").write_text((folder / "x.gallery.csv").read_text())
        return be.load(
            folder / "p.npy", gallery=folder / "g.npy", metric="l2",
            labels=folder / "x.probe.csv",
        )  # fmt: skip
    if kind == "text":
        np.savetxt(folder / "x.txt", MATRIX)
        sides = {"labels": folder / "x.probe.csv", "gallery": folder / "x.gallery.csv"}
        return be.load(folder / "x.txt", kind="distance", **sides)
    h5py = optional_import("h5py")
    with h5py.File(folder / "x.h5", "w") as file:
        file["scores"] = MATRIX
        for side, places in sides.items():
            file[f"{side}_labels"] = places // 3
            file[f"{side}_name"] = [NAMES[i].encode() for i in places]
    return be.load(folder / "x.h5", kind="distance")


@pytest.mark.parametrize("kind", ["npz", "npy", "embeddings", "text", "hdf5"])
def test_every_reader_knows_the_names_of_both_sides(tmp_path, kind):
    assert attempts(written(tmp_path, kind)) == COUNTED


def test_they_stay_one_template_when_saved(tmp_path):
    be.save(named(), tmp_path / "saved.npz")
    assert attempts(be.load(tmp_path / "saved.npz")) == COUNTED


# ------------------------------------------------------------------------------- tables


def test_a_table_names_its_templates_where_labels_are_given():
    pandas = optional_import("pandas")
    table = pandas.DataFrame(SQUARE, index=NAMES, columns=NAMES)
    eer = float(be.verification(be.Scores(SQUARE, LABELS)).eer)
    for turned in (
        be.Scores(table.iloc[::-1], LABELS[::-1]),
        be.Scores(table.iloc[::-1], LABELS[::-1], LABELS),
    ):
        assert float(be.verification(turned).eer) == eer
        assert turned.gallery_labels.tolist() == LABELS.tolist()
    part = table.iloc[ROWS, COLUMNS]
    assert attempts(be.Scores(part, LABELS[ROWS], LABELS[COLUMNS])) == COUNTED
    with pytest.raises(be.DataError, match="`gallery_labels` is missing"):
        be.Scores(table.iloc[:5, 1:6], LABELS[:5])


def test_an_index_of_labels_is_no_name():
    pandas = optional_import("pandas")
    table = pandas.DataFrame(SQUARE, index=LABELS, columns=LABELS)
    assert attempts(be.Scores(table)) == (24, 108)
    assert attempts(be.Scores(table, LABELS, LABELS)) == (36, 108)
    single = pandas.DataFrame(SQUARE[::3, 1::3], index=LABELS[::3], columns=LABELS[::3])
    assert attempts(be.Scores(single, LABELS[::3], LABELS[::3])) == (4, 12)


def test_labels_in_another_order_are_refused():
    pandas = optional_import("pandas")
    table = pandas.DataFrame(SQUARE, index=LABELS, columns=LABELS).iloc[::-1]
    for labels in ((), (LABELS[::-1],)):
        with pytest.raises(be.DataError, match="in another order"):
            be.Scores(table, *labels)
    named = be.Scores(table, probe_meta={"name": NAMES[::-1]}, gallery_meta={"name": NAMES})
    assert attempts(named) == (24, 108)


def test_a_text_with_labels_in_another_order_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label,ann,bob,cem\nbob,1,0,2\nann,0,1,3\ncem,3,2,0\n")
    with pytest.raises(be.DataError, match="in another order"):
        be.load(path, kind="distance")


# ------------------------------------------------------------------------------- errors


def test_a_name_twice_on_one_side_is_an_error():
    twice = np.where(np.arange(12) == 5, NAMES[4], NAMES)
    with pytest.raises(be.DataError, match="'bob/4.png' twice, in rows 1, 2"):
        named(names=twice)
    with pytest.raises(be.DataError, match="twice, in columns"):
        be.Scores(SQUARE, LABELS, LABELS, probe_meta={"name": NAMES}, gallery_meta={"name": twice})
    with pytest.raises(be.DataError, match="twice"):
        be.Scores(SQUARE, LABELS, probe_meta={"template": twice})


def test_a_name_of_two_people_is_an_error():
    with pytest.raises(
        be.DataError, match="'ann/0.png' is of two people, .*'dan' in row 0 and 'ann' in column 2"
    ):
        be.Scores(
            MATRIX, ["dan", *LABELS[ROWS[1:]]], LABELS[COLUMNS],
            probe_meta={"name": NAMES[ROWS]}, gallery_meta={"name": NAMES[COLUMNS]},
        )  # fmt: skip


# ------------------------------------------------------------------------- an index of pandas


def shuffled(values):
    """The same values in another order, each under its own name."""
    return values.sample(frac=1, random_state=3)


def tables():
    pd = optional_import("pandas")
    square = pd.DataFrame(SQUARE, index=NAMES, columns=NAMES)
    people = pd.Series(LABELS, index=NAMES)
    assert not (shuffled(people).index == NAMES).all()
    return pd, square, people


def test_labels_and_metadata_of_a_table_are_joined_by_name():
    pd, square, people = tables()
    meta = pd.DataFrame({"camera": np.arange(12)}, index=NAMES)
    scores = be.Scores(square, shuffled(people), probe_meta=shuffled(meta))
    np.testing.assert_array_equal(scores.probe_labels, LABELS)
    np.testing.assert_array_equal(scores.probe_meta["camera"], np.arange(12))
    scores = be.Scores(
        square.iloc[ROWS, COLUMNS], shuffled(people), shuffled(people),
        probe_meta={"camera": shuffled(meta)["camera"]},
    )  # fmt: skip
    np.testing.assert_array_equal(scores.gallery_labels, LABELS[COLUMNS])
    np.testing.assert_array_equal(scores.probe_meta["camera"], ROWS)
    assert attempts(scores) == COUNTED


def test_metadata_are_joined_with_labels_by_name():
    pd, _, people = tables()
    meta = pd.DataFrame({"camera": np.arange(12)}, index=NAMES)
    scores = be.Scores(SQUARE, people, probe_meta=shuffled(meta))
    np.testing.assert_array_equal(scores.probe_meta["camera"], np.arange(12))


def test_values_of_templates_are_joined_by_name():
    pd, square, people = tables()
    scores = be.Scores(square, people)
    group = pd.Series(np.where(np.arange(12) < 6, "f", "m"), index=NAMES)
    assert be.by_group(scores, shuffled(group)).equals(be.by_group(scores, group))
    both = be.by_group(scores, (shuffled(group), shuffled(group)))
    assert both.equals(be.by_group(scores, group))
    chosen = scores.select(shuffled(group == "f"))
    assert set(chosen.probe_labels) == {"ann", "bob"}
    folds = shuffled(pd.Series(np.arange(12) % 3, index=NAMES))
    found, expected = (
        be.cross_evaluate(scores, be.partition.PredefinedFolds(x))
        for x in (folds, np.arange(12) % 3)
    )
    assert found.equals(expected)


def test_a_mask_is_joined_by_name():
    _, square, people = tables()
    mask = square < np.median(SQUARE)
    expected = be.verification(be.Scores(SQUARE, LABELS, mask=mask.to_numpy()))
    order = np.random.default_rng(4).permutation(12)
    for given in (mask, mask.iloc[order, order]):
        for scores in (
            be.Scores(square, people, mask=given), be.Scores(square, people).with_mask(given)
        ):  # fmt: skip
            assert be.verification(scores).equals(expected)


def test_an_index_of_other_things_names_no_template():
    pd, square, people = tables()
    for index in (np.arange(12)[::-1], [f"row {i}" for i in range(12)], LABELS):
        scores = be.Scores(square, pd.Series(LABELS, index=index))
        np.testing.assert_array_equal(scores.probe_labels, LABELS)


def test_a_template_without_a_value_is_an_error():
    _, square, people = tables()
    with pytest.raises(
        be.DataError, match=r"`labels` has no value of the template 'bob/4.png' \(row"
    ):
        be.Scores(square, people.drop(NAMES[[4, 7]]))
    with pytest.raises(be.DataError, match=r"labels.* and of 2 of 12 templates in all"):
        be.Scores(square, people.drop(NAMES[[4, 7]]))


@pytest.mark.parametrize("column", ["template", "name", "file", None])
def test_systems_in_another_order_are_joined_by_name(column):
    """By a column, or by the index of a table."""
    order = np.random.default_rng(5).permutation(12)
    other = SQUARE + np.add.outer(np.arange(12), np.arange(12)) / 40

    def system(values, rows):
        values = values[np.ix_(rows, rows)]
        if column is None:
            pd = optional_import("pandas")
            values = pd.DataFrame(values, index=NAMES[rows], columns=NAMES[rows])
            return be.Scores(values, LABELS[rows])
        return be.Scores(values, LABELS[rows], probe_meta={column: NAMES[rows]})

    every = np.arange(12)
    one, same = system(SQUARE, every), system(other, every)
    expected = be.fuse({"a": one, "b": same})
    found = be.fuse({"a": one, "b": system(other, order)})
    np.testing.assert_array_equal(found.values, expected.values)
