"""Names under words that nobody listed are asked about; nothing is taken by place in silence."""

from __future__ import annotations

import naive
import numpy as np
import pandas as pd
import pytest

import bioeval as be

PEOPLE, EACH = 12, 4
WHO = np.repeat(np.arange(PEOPLE), EACH)
N = len(WHO)
RNG = np.random.default_rng(4)
NAMES = np.array([f"{who:03d}_{i % EACH}.png" for i, who in enumerate(WHO)])
#: Another order in which each template keeps its place among those of its person's labels.
ORDER = np.concatenate([EACH * i + RNG.permutation(EACH) for i in range(PEOPLE)])
TITLES = ("picture", "filepath", "snapshot", "img_a", "Datei")


def distances(seed):
    rng = np.random.default_rng(seed)
    x = np.random.default_rng(4).normal(size=(N, 6)) * 0.5
    x += np.random.default_rng(5).normal(size=(PEOPLE, 6))[WHO] + 0.3 * rng.normal(size=(N, 6))
    return np.linalg.norm(x[:, None] - x, axis=-1)


A, B = distances(1), distances(2)


def eer(scores):
    return float(be.verification(scores).eer)


def fused(first, second):
    return eer(be.fuse({"a": first, "b": second}))


def naive_eer_of_mean(first, second, is_genuine):
    scores = (first + second) / 2
    return float(naive.eer(scores[is_genuine], scores[~is_genuine], "distance").value)


OFF, IN_ORDER = ~np.eye(N, dtype=bool), np.arange(N)
DAYS = np.array([f"day {i % 3}" for i in range(N)])
#: The column of names of each system, how the second is ordered, an argument, and what comes of it.
MATRICES = [
    *((x, {y: NAMES[ORDER]}, ORDER, {}, "asked") for x in TITLES for y in (x, "shot")),
    *((x, {x: NAMES[ORDER]}, ORDER, {"names": x}, "by names") for x in TITLES),
    *((x, {x: NAMES[ORDER]}, ORDER, {"names": None}, "by place") for x in TITLES),
    ("picture", {"picture": NAMES}, IN_ORDER, {}, "by place"),
    # Names of another folder say nothing.
    ("picture", {"picture": np.char.add("cnn/", NAMES[ORDER])}, IN_ORDER, {}, "by place"),
    ("picture", {"day": DAYS[::-1]}, IN_ORDER, {}, "by place"),
    ("day", {"day": DAYS[::-1]}, IN_ORDER, {}, "by place"),
    ("picture", pd.DataFrame({"picture": NAMES}).iloc[ORDER], ORDER, {}, "by names"),  # by numbers
]  # fmt: skip


@pytest.mark.parametrize(("title", "columns", "order", "options", "expected"), MATRICES)
def test_two_matrices(title, columns, order, options, expected):
    first = {title: DAYS if title == "day" else NAMES}
    values, other_values = A, B[np.ix_(order, order)]
    people, other_people = WHO, WHO[order]
    if isinstance(columns, pd.DataFrame):
        first, values = pd.DataFrame(first), pd.DataFrame(values)
        people, other_people = pd.Series(people), pd.Series(WHO).iloc[order]
        other_values = pd.DataFrame(other_values, order, order)
    systems = [
        be.Scores(values, people, probe_meta=first, **options),
        be.Scores(other_values, other_people, probe_meta=columns, **options),
    ]
    by_name, by_place = (
        naive_eer_of_mean(A[OFF], x[OFF], (WHO[:, None] == WHO)[OFF])
        for x in (B, B[np.ix_(order, order)])
    )
    assert (by_name != by_place) == (order is ORDER)
    if expected != "asked":
        assert np.isclose(fused(*systems), by_name if expected == "by names" else by_place)
        return
    for call in (fused, lambda a, b: be.compare({"a": a, "b": b})):
        with pytest.raises(be.DataError, match=rf"'?{title}'? of .* in different orders: '0") as e:
            call(*systems)
        assert f'`names="{title}"`' in str(e.value) and "`names=None`" in str(e.value)


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("other", [None, "shot"])
@pytest.mark.parametrize("number", [20, N])
def test_queries_that_are_in_the_gallery(title, other, number):
    rows = RNG.permutation(N)[:number]
    meta = {"probe_meta": {title: NAMES[rows]}, "gallery_meta": {other or title: NAMES}}
    with pytest.raises(be.DataError, match=f"'{title}' of the probes and '{other or title}'"):
        be.Scores(A[rows], WHO[rows], WHO, **meta)
    every = be.Scores(A[rows], WHO[rows], WHO, names=None, **meta)
    assert int(be.verification(every).genuine_attempts) == number * EACH
    if other is None:
        without_itself = be.Scores(A[rows], WHO[rows], WHO, names=title, **meta)
        assert int(be.verification(without_itself).genuine_attempts) == number * (EACH - 1)


# ------------------------------------------------------------------------ lists


ROW, COLUMN = np.nonzero(np.triu(np.ones((N, N), dtype=bool)))  # a template with itself among them
CHOSEN = RNG.permutation(len(ROW))[:600]
ROW, COLUMN = ROW[CHOSEN], COLUMN[CHOSEN]
GENUINE = WHO[ROW] == WHO[COLUMN]


def listed(matrix, first, second):
    columns = {"distance": matrix[ROW, COLUMN], "genuine": GENUINE.astype(int)}
    return pd.DataFrame(columns | {first: NAMES[ROW], second: NAMES[COLUMN]})


def shuffled(table):
    """The same lines in another order, in which a line keeps its class."""
    order = np.arange(len(table))
    for is_genuine in (0, 1):
        rows = np.flatnonzero(table.genuine == is_genuine)
        order[rows] = np.random.default_rng(9).permutation(rows)
    return table.iloc[order]


def source_of(table, folder, form, name="x"):
    path = folder / f"{name}.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "parquet":
        table.to_parquet(path)
    return table if form == "frame" else path


WORDS = [("reference", "probe"), ("img_a", "img_b"), ("reference", "query"), ("bild1", "bild2")]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(("first", "second"), WORDS)
def test_lists_whose_templates_have_unknown_titles(tmp_path, form, first, second):
    """One list with names of one set; and two, whose probes and gallery have other names."""
    source = source_of(listed(A, first, second), tmp_path, form)
    columns = {"template_a": first, "template_b": second}
    with pytest.raises(
        be.DataError, match=rf"'{first}' and '{second}' are|'{second}' has .* one side"
    ):
        be.load(source)
    assert len(be.load(source, columns=columns).values) == int((ROW != COLUMN).sum())
    assert len(be.load(source, columns={first: None, second: None}).values) == len(ROW)
    tables = [listed(x, first, second) for x in (A, B)]
    for table in tables:
        table[second] = "q_" + table[second]
    truth, by_place = (
        naive_eer_of_mean(A[ROW, COLUMN], x.distance.to_numpy(), GENUINE)
        for x in (tables[1], shuffled(tables[1]))
    )
    sources = [source_of(x, tmp_path, form, str(i))
               for i, x in enumerate([*tables, shuffled(tables[1])])]  # fmt: skip
    read = [be.load(x, columns=columns) for x in sources]
    assert np.isclose(fused(read[0], read[2]), truth)
    if second in ("probe", "query"):
        return  # one side alone is asked about where the list is read
    unnamed = [be.load(x) for x in sources]
    for system in (unnamed[0], read[0]):
        with pytest.raises(be.DataError, match="in different orders") as e:
            fused(system, unnamed[2])
        if system is unnamed[0]:
            assert f'`columns={{"template_a": "{first}"}}`' in str(e.value)
    no_names = [be.load(x, columns={"name": None}) for x in sources]
    assert np.isclose(fused(no_names[0], no_names[2]), by_place) and by_place != truth
    assert np.isclose(fused(*unnamed[:2]), truth)


@pytest.mark.parametrize("title", ["trial", "filepath"])
def test_one_column_of_names_of_pairs(tmp_path, title):
    keys = [f"{a}-{b}" for a, b in zip(NAMES[ROW], NAMES[COLUMN], strict=True)]
    table = listed(A, "x", "y").drop(columns=["x", "y"]).assign(**{title: keys})
    other = table.assign(distance=B[ROW, COLUMN])
    first, second = be.load(table), be.load(shuffled(other))
    with pytest.raises(be.DataError, match=f"'{title}' of .* in different orders"):
        fused(first, second)
    assert np.isclose(
        fused(first, be.load(other)), naive_eer_of_mean(A[ROW, COLUMN], B[ROW, COLUMN], GENUINE)
    )


def test_columns_that_name_nothing_are_no_question(tmp_path):
    table = listed(A, "x", "y").drop(columns=["x", "y"])
    days = RNG.integers(0, 3, size=(len(table), 2)).astype(str)
    table = table.assign(day_a="d" + pd.Series(days[:, 0]), day_b="d" + pd.Series(days[:, 1]))
    table = table.assign(quality=RNG.normal(size=len(table)), device="a")
    other = shuffled(table)
    assert be.load(table).shape == (len(table),)
    assert fused(be.load(table), be.load(other)) >= 0
