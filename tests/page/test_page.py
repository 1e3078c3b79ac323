"""The page as text: its parts, numbers, sentences and escaping; what it is made from."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from report_text import EVIL, Answer, Elements, written

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.cli.program import main
from bioeval.document.cells import threshold_to_install
from bioeval.page.contents import digest
from bioeval.page.figures import GRID, steps_after, thinned
from bioeval.page.parts import LiveRow, LiveState, parts_of
from bioeval.page.writer import digits
from bioeval.views.writers.lines import Lines


def payload(text: str) -> dict:
    return json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S)[1])


def stored(text: str, place: dict) -> np.ndarray:
    """Read an array of a page, as the script does."""
    raw = zlib.decompress(base64.b64decode(re.search(r'id="arrays">(.*?)</script>', text)[1]))
    types = {"f8": "<f8", "u2": "<u2"}

    def view(where):
        name, at, length = where
        return np.frombuffer(raw, types[name], length, at)

    values = view(place["values"])
    return (values[view(place["at"])] if "at" in place else values).reshape(place["shape"])


@pytest.fixture(scope="module")
def scores():
    return be.simulate(16, 3, random_state=2)


@pytest.fixture(scope="module")
def tree(scores):
    return be.evaluate(
        scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )


@pytest.mark.slow
def test_every_row_of_the_dataset_is_in_the_page(tree, tmp_path):
    text, _ = written(tree, tmp_path)
    for part in payload(text)["parts"].values():
        dataset = tree[part["task"]].to_dataset()
        if "threshold" in dataset.dims:
            np.testing.assert_array_equal(stored(text, part["threshold"]), dataset["threshold"])
        for kind, dims in (("columns", ("threshold",)), ("byRank", ("rank",))):
            names = [k for k, v in dataset.data_vars.items() if v.dims == dims]
            assert sorted(part[kind]) == sorted(names)
            for name in names:
                np.testing.assert_array_equal(stored(text, part[kind][name]), dataset[name])
        for name, place in part["ranked"].items():
            found = stored(text, place)
            np.testing.assert_array_equal(found, dataset[name].values[:, : found.shape[1]])


@pytest.mark.slow
def test_every_number_that_does_not_move_is_that_of_the_dataset(tree, tmp_path):
    text, page = written({"one": tree}, tmp_path)
    fixed = [number for number in page.numbers if "live" not in number]
    assert {number["system"] for number in fixed} == {"one"}
    for number in fixed:
        values = tree[number["task"]][number["variable"]]
        at = {"rank": int, "far_target": float}
        place = {k: cast(number[k.replace("_", "-")]) for k, cast in at.items()
                 if k.replace("_", "-") in number}  # fmt: skip
        value = values.sel(place) if place else values
        expected = (
            value.values[int(number["cost"])] if "cost" in number else value.values.ravel()[0]
        )
        got = float(number["value"])
        assert got == expected or (math.isnan(got) and math.isnan(expected)), number
    found = {number["variable"] for number in fixed}
    assert {"eer", "auc", "d_prime", "eer_low", "frr_at_far", "cms", "dir_at_far"} <= found
    assert {"recognition_rate", "genuine_attempts", "zero_far", "eer_threshold"} <= found


@pytest.mark.slow
def test_live_numbers_are_those_of_the_row_that_holds(tree, tmp_path):
    _, page = written(tree, tmp_path)
    slider = next(attrs for _, attrs in page.tags if attrs.get("id") == "threshold")
    at = float(slider["data-value"])
    live = [number for number in page.numbers if "live" in number]
    assert {"far", "frr", "gar", "grr", "fa", "fr", "ga", "gr"} <= {x["variable"] for x in live}
    for number in live:
        dataset = tree[number["task"]].to_dataset()
        if "threshold" in dataset.dims:
            dataset = dataset.sel(threshold=at, method="pad")
        values = dataset[number["variable"]]
        values = values.sel(rank=1) if "rank" in values.dims else values
        np.testing.assert_equal(float(number["value"]), values.item())


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_a_threshold_takes_the_row_that_is_not_looser(kind):
    """The rule in its own words: the last row that is not looser than the threshold."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 12, (9, 9)).astype(float)
    dataset = be.verification(
        be.Scores(values, np.arange(9) // 3, kind=kind), thresholds=[1.0, 3.0, 4.0, 8.0]
    )
    state = LiveState(parts_of({"x": dataset}))
    part = state.parts[0]
    for threshold in (1.0, 2.5, 3.0, 3.9, 4.0, 7.0, 8.0):
        if kind == "distance":
            rows = [i for i, t in enumerate(part.thresholds) if t <= threshold][-1:]
        else:
            rows = [i for i, t in enumerate(part.thresholds) if t >= threshold][:1]
        assert part.row(threshold) == rows[0]
    stricter = 0.5 if kind == "distance" else 8.5
    assert part.row(stricter) == -1 and math.isnan(LiveRow(part, -1).value("far"))


def test_stricter_than_all_rejected_is_all_rejected(scores):
    state = LiveState(parts_of({"x": be.verification(scores)}))
    part = state.parts[0]
    part.columns["frr"][0] = 1.0
    assert part.row(-5.0) == 0 and LiveRow(part, part.row(-5.0)).value("fa") == 0


@given(
    hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(0, 500)),
    st.randoms(use_true_random=False),
)
def test_a_thinned_curve_is_within_a_quarter_of_a_pixel(x, random):
    """Each corner lies on the thinned line, and each thinned corner is a corner."""
    x = np.sort(x)
    y = np.array([random.choice([0.0, 3.1, 200.0, 200.06, 350.7]) for _ in x])
    corners = steps_after(x, y)
    tx, ty = thinned(*corners)
    for px, py in zip(*corners, strict=True):
        assert _distance(px, py, tx, ty) <= GRID
    rounded = {tuple(np.round(np.array(p) / GRID) * GRID) for p in zip(*corners, strict=True)}
    assert set(zip(tx.tolist(), ty.tolist(), strict=True)) <= rounded


def _distance(x: float, y: float, xs: np.ndarray, ys: np.ndarray) -> float:
    """The distance of a point from a polyline, segment by segment."""
    if len(xs) == 1:
        return math.hypot(x - xs[0], y - ys[0])
    best = math.inf
    for x0, y0, x1, y1 in zip(xs, ys, xs[1:], ys[1:], strict=False):
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        share = 0 if not length else ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length
        share = min(1, max(0, share))
        best = min(best, math.hypot(x - x0 - share * (x1 - x0), y - y0 - share * (y1 - y0)))
    return best


def test_a_threshold_on_a_page_is_never_rounded_to_one_that_accepts_more():
    write = Lines().write
    for kind, value, text in (
        ("distance", 3.957648, "3.95764"),
        ("similarity", 3.957642, "3.95765"),
        ("llr", 3.957642, "3.95765"),
        ("llr", 0.1, "0.1"),
        ("distance", math.nan, "n/a"),
    ):
        assert write(threshold_to_install(value, kind)) == text
    assert digits(math.inf) == "inf" and digits(0.1 + 0.2) == "0.30000000000000004"


def test_text_from_the_data_is_never_markup(scores, tmp_path):
    names = np.array([f"{EVIL}{label}" for label in scores.probe_labels])
    named = be.Scores(np.asarray(scores.values), names)
    results = {
        EVIL: be.verification(named),
        f"{EVIL}2": be.worst_pairs(named, 2),
        f"{EVIL}3": be.by_group(named, np.where(np.arange(48) // 3 % 2, EVIL, "y")),
    }
    text, page = written(results, tmp_path, title=EVIL, command=EVIL)
    images = [attrs["src"] for tag, attrs in page.tags if tag == "img"]
    assert images and all(source.startswith("data:image/svg+xml") for source in images)
    assert not any("onerror" in attrs for _, attrs in page.tags)
    assert [tag for tag, _ in page.tags].count("script") == 3 == text.count("</script>")
    assert {number["system"] for number in page.numbers} == set(results)
    assert [part["system"] for part in payload(text)["parts"].values()] == [EVIL]


@pytest.mark.slow
def test_a_page_asks_for_nothing(tree, tmp_path):
    text, page = written(tree, tmp_path)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    for _, attrs in page.tags:
        for name in ("src", "href"):
            assert attrs.get(name, "#").startswith(("data:", "#"))
        assert "style" not in attrs and not any(name.startswith("on") for name in attrs)
    assert len(text) < 1_000_000


@pytest.mark.slow
def test_sentences_say_what_was_not_estimated(tree, tmp_path):
    text, _ = written(tree, tmp_path)
    assert "chosen on these data, so the rates are optimistic" in text
    assert "Rates for new people were not estimated" in text


@pytest.mark.slow
def test_several_systems_say_what_their_intervals_and_columns_are(scores, tree, tmp_path):
    study = be.study_threshold(scores, "far=0.01", folds=4, repeats=1).assign(far_mean=0.02)
    other = be.Scores(np.asarray(scores.values) ** 2, scores.probe_labels)
    parts = {
        "b": tree,
        "a and b": be.compare(
            scores, other, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        ),
    }
    for low, missed in ((0.0, False), (0.015, True)):
        own = xr.DataTree(study.assign(far_low=low))
        parts["a"] = tree.assign({"threshold_study": own})
        text, _ = written(parts, tmp_path)
        text = " ".join(text.split())
        assert ('class="missed">*<' in text) == missed
    text = re.sub("<[^>]+>", "", text)
    for said in (
        "The interval of FRR keeps the threshold fixed.",
        "The intervals include the uncertainty of the threshold for the FAR target.",
        "identification: rates at the rank and the threshold of single-template verification",
        "Intervals and limits are for new people",
    ):
        assert said in text, said
    assert "Open-set identification: values at ranks" not in text


_SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [0, 1, 2, *(pytest.param(i, marks=_SLOW) for i in (3, 4, 5, 7)), 6, 8]
)
@pytest.mark.cases(5)
def test_every_kind_of_result_has_a_page(number, scores, tmp_path):
    groups = np.where(np.arange(48) // 3 % 2, "a", "b")
    makes = [
        lambda: be.open_set(scores),
        lambda: be.closed_set(scores),
        lambda: be.gom(scores, convention="vehicleid"),
        lambda: be.cross_evaluate(scores, be.partition.SubjectKFold(4)),
        lambda: be.evaluate(scores, "course-kfold"),
        lambda: be.zoo(scores, permutations=20),
        lambda: be.by_group(scores, groups),
        lambda: be.gallery_size(scores, [2, 8, 16]),
        lambda: be.worst_pairs(scores, 4),
    ]
    results = makes[number]()
    text, page = written(results, tmp_path)
    assert page.numbers and payload(text)
    for item in page.numbers:
        float(item["value"])


@pytest.mark.slow
def test_a_saved_result_gives_the_same_page(tree, tmp_path):
    tree.to_netcdf(tmp_path / "saved.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "saved.nc", engine="h5netcdf") as again:
        assert written(again.load(), tmp_path)[0] == written(tree, tmp_path)[0]


def test_worst_pairs_are_shown_with_their_images(tmp_path):
    from PIL import Image

    scores = be.simulate(4, 2, random_state=0)
    files = np.array([f"{i}.png" for i in range(8)])
    for file in files[:-1]:
        Image.new("L", (300, 200), 90).save(tmp_path / file)
    (tmp_path / files[-1]).write_text("no image")
    named = be.Scores(np.asarray(scores.values), scores.probe_labels, probe_meta={"file": files})
    pairs = be.worst_pairs(named, 50)
    with pytest.warns(be.BioevalWarning, match="^1 image could not be shown, such as 7.png: it is"):
        text, page = written(pairs, tmp_path, images="file", image_folder=tmp_path)
    shown = [attrs for tag, attrs in page.tags if tag == "img" and attrs.get("class") == "thumb"]
    used = [*pairs["probe_meta_file"].values, *pairs["gallery_meta_file"].values]
    readable = [file for file in used if file != files[-1]]
    assert sorted(attrs["alt"] for attrs in shown) == sorted(readable)
    assert all(attrs["src"].startswith("data:image/jpeg;base64,") for attrs in shown)
    assert "7.png: no image" in text
    with pytest.raises(DataError, match="no metadata column 'photo' of images"):
        be.report(pairs, tmp_path / "x.html", images="photo")


def test_what_is_no_result_is_refused(tree, tmp_path):
    for wrong, what in ((3, "int"), (None, "NoneType"), ({"a": None, "b": tree}, "NoneType")):
        with pytest.raises(DataError, match=f"a report got {what}; expected a Dataset"):
            be.report(wrong, tmp_path / "x.html")
    with pytest.raises(DataError, match="hold no dataset"):
        be.report({}, tmp_path / "x.html")
    with pytest.raises(DataError, match="is a folder"):
        be.report(tree, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_commands_write_a_page(scores, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    be.save(scores, "s.npz")
    assert main(["run", "s.npz", "--report", "run.html", "--worst", "2"]) == 0
    text = (tmp_path / "run.html").read_text()
    assert "bioeval run s.npz --report run.html --worst 2" in text
    assert digest("s.npz") in text and 'data-system="s"' in text and "Worst pairs" in text
    capsys.readouterr()
    assert main(["run", "s.npz", "--report", "run.html"]) == 2
    assert "--force" in capsys.readouterr().err
    many = ["report", "s.npz", "s.npz", "--name", "a", "--name", "b", "--out", "two.html"]
    assert main([*many, "--replicates", "100", "--folds", "3"]) == 0
    page = Elements((tmp_path / "two.html").read_text())
    assert {x["system"] for x in page.numbers if "system" in x} == {"a", "b"}
    assert main(["report", "nope.nc", "--out", "x.html"]) == 2
    assert not (tmp_path / "x.html").exists()


def test_systems_that_rank_are_in_the_order_of_their_map(tmp_path):
    trees = {}
    for name, within in (("near", 1.2), ("far", 0.4)):
        made = be.simulate(12, 4, within=within, random_state=1)
        probe = np.arange(48) % 4 == 0
        who = made.probe_labels
        scores = be.Scores(np.asarray(made.values)[np.ix_(probe, ~probe)], who[probe], who[~probe])
        trees[name] = be.reid(scores, convention="vehicleid")
    text, _ = written(trees, tmp_path)
    rows = Answer(text).rows[1:]
    means = [{x["variable"]: float(x["value"]) for x in row.numbers} for row in rows]
    assert [row.text.strip()[:3] for row in rows] == ["far", "nea"]
    assert means[0]["mean_ap"] == trees["far"]["mean_ap"].item() > means[1]["mean_ap"]
    assert means[1]["cmc"] == trees["near"]["cmc"].values[0]


@pytest.mark.slow
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_systems_with_and_without_intervals_share_the_table_of_ranks(tree, order, tmp_path):
    trees = {"a": tree, "b": be.evaluate(be.simulate(16, 3, random_state=3))}
    text, _ = written({name: trees[name] for name in order}, tmp_path)
    table = re.search(r'data-name="measures-closed_set".*?</table>', text, re.S)
    rows = re.findall(r"<tr.*?</tr>", table[0], re.S)
    assert len({len(re.findall("<t[hd]", row)) for row in rows}) == 1, rows


@pytest.mark.slow
def test_systems_have_a_colour_each(scores, tmp_path):
    """Also one without a task that moves with the threshold, which is drawn after the others."""
    systems = {name: be.evaluate(scores) for name in "ABCD"}
    systems["E"] = be.closed_set(scores)
    path = tmp_path / "page.html"
    be.report(systems, path)
    swatches = re.findall(r'swatch c(\d)"></span>(\w)', path.read_text(encoding="utf-8"))
    assert {*swatches} == {(str(i), name) for i, name in enumerate(systems)}


@pytest.mark.slow
def test_results_of_a_list_are_one_page_with_one_answer(scores, tmp_path):
    """The answer is that of the threshold study, at whose threshold the page opens."""
    study = be.study_threshold(
        scores,
        "far=0.01",
        folds=3,
        repeats=1,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    results = [be.evaluate(scores), study, be.check_data(scores), be.zoo(scores, permutations=20)]
    text, page = written(results, tmp_path)
    assert Answer(text).sentences[0].text.startswith(("Install", "Provisional"))
    slider = next(attrs for _, attrs in page.tags if attrs.get("id") == "threshold")
    assert float(slider["data-value"]) == study["threshold"].item()
    ids = {attrs.get("id") for tag, attrs in page.tags if tag == "section"}
    assert {"task-verification", "task-threshold_study", "task-zoo", "row-1"} <= ids
    assert {x["system"] for x in page.numbers if "system" in x} == {"simulated"}


@pytest.mark.slow
def test_what_studies_find_is_on_top(tmp_path):
    """Rates on new people, the worst subject, the groups farthest apart."""
    scores = be.simulate(60, 4, random_state=1)
    study = be.study_threshold(
        scores, "far=0.01", interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    zoo = be.zoo(scores, threshold="far=0.01", permutations=9)
    groups = be.by_group(scores, scores.probe_labels % 2, threshold="far=0.01")
    text, _ = written([be.verification(scores), study, zoo, groups], tmp_path)
    answer = "\n".join(sentence.text for sentence in Answer(text).sentences)
    far, frr = (f"{100 * study[name].item():.2f} %" for name in ("far_mean", "frr_mean"))
    assert f"On new people, {far} " in answer and f", and {frr} " in answer
    assert "chosen on other people in 20 divisions into 10 folds" in answer
    worst = zoo.subject.values[int(zoo.fr.values.argmax())]
    told = " ".join(re.sub("<[^>]+>", "", text).split())  # in their sections: one answer is on top
    assert f"subject {worst} makes " in told and "the most of all subjects" in told
    assert "the same for all groups, genuine attempts are rejected in " in told


def test_who_is_better_is_on_top(scores, tmp_path):
    rng = np.random.default_rng(1)
    labels = scores.probe_labels
    first = be.Scores(scores.values, labels, name="first")
    second = be.Scores(scores.values + rng.normal(0, 0.5, scores.shape), labels, name="second")
    compared = be.compare(
        first, second, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    systems = {"first": be.verification(first), "second": be.verification(second)}
    text, _ = written([systems, compared], tmp_path)
    sentences = " ".join(x.text for x in Answer(text).sentences)
    assert "between first and second" in sentences or "first is better than second" in sentences
