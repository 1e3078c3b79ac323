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


OFF = ~np.eye(N, dtype=bool)
MATRIX_EER = naive_eer_of_mean(A[OFF], B[OFF], (WHO[:, None] == WHO)[OFF])


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("other_title", [None, "shot"])
def test_two_matrices_whose_names_have_unknown_titles(title, other_title):
    square = np.ix_(ORDER, ORDER)
    columns = {title: NAMES}, {other_title or title: NAMES[ORDER]}

    def both(**options):
        values = (A, WHO), (B[square], WHO[ORDER])
        return [
            be.Scores(*v, probe_meta=x, **options) for v, x in zip(values, columns, strict=True)
        ]

    for call in (fused, lambda a, b: be.compare({"a": a, "b": b})):
        with pytest.raises(be.DataError, match=rf"'?{title}'? of .* in different orders: '0") as e:
            call(*both())
        assert f'`names="{title}"`' in str(e.value) and "`names=None`" in str(e.value)
    if other_title is None:
        assert np.isclose(fused(*both(names=title)), MATRIX_EER)
    by_place = naive_eer_of_mean(A[OFF], B[square][OFF], (WHO[:, None] == WHO)[OFF])
    assert np.isclose(fused(*both(names=None)), by_place) and by_place != MATRIX_EER


def test_texts_in_the_same_order_are_no_question():
    first = be.Scores(A, WHO, probe_meta={"picture": NAMES})
    second = be.Scores(B, WHO, probe_meta={"picture": NAMES})
    assert np.isclose(fused(first, second), MATRIX_EER)
    folders = [f"cnn/{x}" for x in NAMES[ORDER]]  # names of another folder say nothing
    apart = be.Scores(B, WHO, probe_meta={"picture": folders})
    assert np.isclose(fused(first, apart), MATRIX_EER)
    days = [f"day {i % 3}" for i in range(N)]
    by_day = be.Scores(B, WHO, probe_meta={"day": days[::-1]})
    assert np.isclose(fused(be.Scores(A, WHO, probe_meta={"day": days}), by_day), MATRIX_EER)


def test_rows_that_are_joined_by_numbers_are_no_question():
    table = pd.DataFrame(B).iloc[ORDER, ORDER]
    columns = pd.DataFrame({"picture": NAMES}).iloc[ORDER]
    second = be.Scores(table, pd.Series(WHO).iloc[ORDER], probe_meta=columns)
    first = be.Scores(pd.DataFrame(A), pd.Series(WHO), probe_meta=pd.DataFrame({"picture": NAMES}))
    assert np.isclose(fused(first, second), MATRIX_EER)


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("other", [None, "shot"])
def test_queries_that_are_in_the_gallery(title, other):
    rows = RNG.permutation(N)[:20]
    meta = {"probe_meta": {title: NAMES[rows]}, "gallery_meta": {other or title: NAMES}}
    with pytest.raises(be.DataError, match=f"'{title}' of the probes and '{other or title}'"):
        be.Scores(A[rows], WHO[rows], WHO, **meta)
    every = be.Scores(A[rows], WHO[rows], WHO, names=None, **meta)
    assert int(be.verification(every).genuine_attempts) == 20 * EACH
    if other is None:
        without_itself = be.Scores(A[rows], WHO[rows], WHO, names=title, **meta)
        assert int(be.verification(without_itself).genuine_attempts) == 20 * (EACH - 1)


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
def test_a_list_whose_templates_have_unknown_titles(tmp_path, form, first, second):
    source = source_of(listed(A, first, second), tmp_path, form)
    with pytest.raises(
        be.DataError, match=rf"'{first}' and '{second}' are|'{second}', .* one side"
    ):
        be.load(source)
    named = be.load(source, columns={"template_a": first, "template_b": second})
    assert len(named.values) == int((ROW != COLUMN).sum())
    plain = be.load(source, columns={first: None, second: None})
    assert len(plain.values) == len(ROW)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(("first", "second"), WORDS)
def test_two_lists_whose_templates_have_unknown_titles(tmp_path, form, first, second):
    """Probes and gallery have other names, so that each list is sound alone."""
    tables = []
    for matrix in (A, B):
        table = listed(matrix, first, second)
        table[second] = "q_" + table[second]
        tables.append(table)
    truth = naive_eer_of_mean(A[ROW, COLUMN], B[ROW, COLUMN], GENUINE)
    sources = [
        source_of(x, tmp_path, form, name)
        for x, name in ((tables[0], "a"), (shuffled(tables[1]), "b"))
    ]
    columns = {"template_a": first, "template_b": second}
    read = [be.load(x, columns=columns) for x in sources]
    assert np.isclose(fused(*read), truth)
    if second in ("probe", "query"):
        return  # one side alone is asked about where the list is read
    with pytest.raises(be.DataError, match="in different orders: .* is pair") as e:
        fused(*map(be.load, sources))
    assert f'`columns={{"template_a": "{first}"}}`' in str(e.value)
    with pytest.raises(be.DataError, match="in different orders"):
        fused(read[0], be.load(sources[1]))
    no_names = [be.load(x, columns={"name": None}) for x in sources]
    by_place = naive_eer_of_mean(A[ROW, COLUMN], shuffled(tables[1]).distance.to_numpy(), GENUINE)
    assert np.isclose(fused(*no_names), by_place) and by_place != truth
    same_order = [be.load(source_of(x, tmp_path, form, "c")) for x in tables]
    assert np.isclose(fused(*same_order), truth)


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
