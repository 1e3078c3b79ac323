"""The page as text: its threshold, answer, sections and figures, escaping, and what is refused."""

import itertools
import re

import numpy as np
import pytest
from report_text import EVIL, Elements, answer, plain, rates, written

import bioeval as be
from bioeval.cli import main

QUICK = be.stats.IntervalMethod("subject-bootstrap", replicates=100)


@pytest.fixture(scope="module")
def scores():
    return be.simulate(30, 4, random_state=2)


@pytest.fixture(scope="module")
def tree(scores):
    return be.evaluate(scores, interval=QUICK)


@pytest.fixture
def folder_with_scores(tmp_path, monkeypatch):
    """Write a.npz into a folder, and work there."""
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(30, 3, random_state=2), "a.npz")
    return tmp_path


def simulated_scores(
    seed: int, people: int = 30, kind: str = "distance", step: float = 0.0
) -> be.Scores:
    """Return scores of three templates a person, rounded to multiples of `step` if it is not 0."""
    simulated = be.simulate(people, 3, random_state=seed)
    values = np.asarray(simulated.values)
    values = np.round(values / step) * step if step else values
    values = values if kind == "distance" else np.exp(-values / 5)
    return be.Scores(values, simulated.probe_labels, kind=kind)


def genuine_and_impostor(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return the genuine and the impostor scores as distances (similarities are negated)."""
    sign = 1.0 if scores.kind == "distance" else -1.0
    same = scores.probe_labels[:, None] == scores.probe_labels
    values, is_other_template = sign * np.asarray(scores.values), ~np.eye(len(same), dtype=bool)
    return values[same & is_other_template], values[~same]


def rates_in_per_cent(scores: be.Scores, threshold: float) -> tuple[float, float]:
    """Return FAR and FRR."""
    genuine, impostor = genuine_and_impostor(scores)
    distance_threshold = threshold * (1 if scores.kind == "distance" else -1)
    far = 100 * (impostor <= distance_threshold).mean()
    frr = 100 * (genuine > distance_threshold).mean()
    return far, frr


def number(text: str) -> float:
    return float(text.replace("\u00a0", " ").split()[0])


def two_systems(kind: str, step: float) -> dict[str, be.Scores]:
    return {"a": simulated_scores(1, 30, kind, step), "b": simulated_scores(2, 30, kind, step)}


each_kind_and_step = pytest.mark.parametrize(
    ("kind", "step"), [("distance", 0.0), ("distance", 0.5), ("similarity", 0.0)]
)


@each_kind_and_step
def test_each_system_has_the_rates_of_its_threshold(kind, step, tmp_path):
    """The second system is at its loosest threshold with at most the FAR of the first."""
    systems = two_systems(kind, step)
    results = {name: be.verification(scores) for name, scores in systems.items()}
    rows = rates(written(results, tmp_path))
    for row, scores in zip(rows, systems.values(), strict=True):
        expected = rates_in_per_cent(scores, float(row["threshold"]))
        assert (number(row["FAR"]), number(row["FRR"])) == pytest.approx(expected, abs=0.0051)
    far_of_first, far_of_second = (
        rates_in_per_cent(scores, float(row["threshold"]))[0]
        for row, scores in zip(rows, systems.values(), strict=True)
    )
    all_far = 100 * results["b"]["far"].values
    assert far_of_second == pytest.approx(all_far[all_far <= far_of_first + 1e-9].max())


@pytest.mark.parametrize(("people", "support"), [(100, ""), (30, "just "), (10, None)])
def test_a_page_is_at_the_smallest_far_that_the_people_support(people, support, tmp_path):
    """30 expected false accepts support a target, 3 just do; with fewer the page is at the EER."""
    scores = be.simulate(people, 3, random_state=1)
    results = be.verification(scores, far_targets=[0.01, 0.001, 0.0001])
    text = written(results, tmp_path)
    genuine, impostor = genuine_and_impostor(scores)
    if support is None:
        assert "the threshold of the equal error rate" in answer(text)[0]
        threshold = results["eer_threshold"].item()
    else:
        reason = f"FAR at most 1 %, the smallest target with {support}enough people or attempts"
        assert reason in answer(text)[0]
        all_scores = np.concatenate([genuine, impostor])
        far = np.searchsorted(np.sort(impostor), all_scores, side="right") / len(impostor)
        threshold = all_scores[far <= 0.01].max()
    printed = float(rates(text)[0]["threshold"])
    for attempts in (impostor, genuine):
        assert ((attempts <= printed) == (attempts <= threshold)).all()


@pytest.mark.parametrize(("kind", "chosen"), [("distance", "4"), ("similarity", "8")])
def test_between_given_thresholds_the_row_is_the_one_that_is_not_looser(kind, chosen, tmp_path):
    values = np.random.default_rng(0).integers(0, 12, (9, 9)).astype(float)
    scores = be.Scores(values, np.arange(9) // 3, kind=kind)
    results = be.verification(scores, thresholds=[1.0, 3.0, 4.0, 8.0], far_targets=[0.1])
    results["eer_threshold"] = ((), 4.5)
    results = results.drop_vars("threshold_at_far")
    text = written(results, tmp_path)
    assert rates(text)[0]["threshold"] == chosen


# ----------------------------------------------------------------- a threshold that is given

CHOSEN = "loosest|chosen|equal error"


def assert_is_at(text: str, scores: be.Scores, threshold: float) -> None:
    """Assert that row and sentence of the rates are at a threshold that is not called chosen."""
    far, frr = rates_in_per_cent(scores, threshold)
    first = rates(text)[0]
    for name, right in (("threshold", threshold), ("FAR", far), ("FRR", frr)):
        assert number(first[name]) == pytest.approx(right, abs=0.0051)
    (sentence,) = (x for x in answer(text) if x.startswith("The rates are"))
    assert f"at the threshold {threshold:g}, " in sentence
    assert not re.search(CHOSEN, sentence)


def whole_scores(kind: str, similarity: int) -> tuple[be.Scores, int]:
    """Return whole similarities up to 640, or distances 1000 minus them, and the threshold."""
    similarities = (
        (1000 * np.asarray(simulated_scores(3, kind="similarity").values)).round().astype(int)
    )
    labels = simulated_scores(3).probe_labels
    if kind == "similarity":
        return be.Scores(similarities, labels, kind=kind), similarity
    return be.Scores(1000 - similarities, labels, kind=kind), 1000 - similarity


each_kind = pytest.mark.parametrize("kind", ["distance", "similarity"])


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize("similarity", [612, 350, 700])
def test_a_page_is_at_the_threshold_that_is_given_or_the_only_one(kind, similarity, tmp_path):
    scores, threshold = whole_scores(kind, similarity)
    results = be.evaluate(scores, extra_thresholds=[threshold])
    zoo = be.zoo(scores, permutations=10)  # at another threshold
    assert_is_at(written([results, zoo], tmp_path, threshold=threshold), scores, threshold)
    rates_at_threshold = be.verification(scores, thresholds=threshold)
    assert_is_at(written(rates_at_threshold, tmp_path), scores, threshold)


@each_kind
@pytest.mark.parametrize("similarity", [612, 350])
def test_a_page_begins_with_the_verdicts_on_promises(kind, similarity, tmp_path):
    scores, threshold = whole_scores(kind, similarity)
    promise = be.check_promise(scores, threshold, ["far=0.6", "frr=1e-9"])
    zoo = be.zoo(scores, permutations=10)
    results = be.evaluate(scores, extra_thresholds=[threshold])
    text = written([promise, zoo, results], tmp_path)
    assert_is_at(text, scores, threshold)
    verdicts = [x.partition(":")[0].lower() for x in answer(text)[:2]]
    assert verdicts == promise.verdict.values.tolist()


@each_kind
def test_nothing_can_be_promised_at_a_threshold_beyond_all_scores(kind):
    scores, threshold = whole_scores(kind, 700)
    with pytest.raises(be.BioevalError, match="rejects all attempts of both classes"):
        be.check_promise(scores, threshold, ["far=0.6", "frr=1e-9"])


@pytest.mark.slow
def test_results_at_several_thresholds_state_none(tmp_path):
    scores = simulated_scores(3)
    results = be.evaluate(scores, extra_thresholds=[3.0, 4.0])
    of_zoo = be.zoo(scores, threshold=3.0, permutations=10)
    of_groups = be.by_group(scores, scores.probe_labels % 2, threshold=4.0)
    for agreeing, threshold in ((of_zoo, "3"), (of_groups, "4")):
        assert rates(written([results, agreeing], tmp_path))[0]["threshold"] == threshold
    disagreeing = written([results, of_zoo, of_groups], tmp_path)
    assert rates(disagreeing) == rates(written(results, tmp_path))


def test_a_threshold_without_rates_is_said(tmp_path):
    results = be.verification(simulated_scores(3))
    text = written(results, tmp_path, threshold=4.0123)
    assert "has no rates at 4.0123" in answer(text)[0] and '<table id="rates">' not in text
    with pytest.raises(be.DataError, match="`threshold`: no result has FAR and FRR"):
        written(be.closed_set(simulated_scores(3)), tmp_path, threshold=4.0)
    with pytest.raises(be.DataError, match="`threshold` is"):
        written(results, tmp_path, threshold="eer")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_loosest_of_given_thresholds_is_that(kind, seed, tmp_path):
    scores = simulated_scores(seed, kind=kind)
    values = np.asarray(scores.values)
    thresholds = np.unique(np.random.default_rng(seed).choice(values.ravel(), 6)) + 1e-9
    text = written(be.verification(scores, thresholds=thresholds), tmp_path)
    sentence = answer(text)[0]
    far_bound = re.search(r"loosest of these results with FAR at most ([\d.]+) %", sentence)
    looser = thresholds if kind == "distance" else thresholds[::-1]
    allowed = [
        x for x in looser if far_bound and rates_in_per_cent(scores, x)[0] <= float(far_bound[1])
    ]
    threshold = allowed[-1] if allowed else looser[0]
    assert (
        bool(allowed)
        or "the threshold of these results" in sentence
        or "the strictest one" in sentence
    )
    assert number(rates(text)[0]["FRR"]) == pytest.approx(
        rates_in_per_cent(scores, threshold)[1], abs=0.0051
    )


PROMISES = ("--promise", "far=0.6", "--promise", "frr=1e-9")


@pytest.mark.slow
def test_the_command_writes_a_page_at_its_threshold(folder_with_scores):
    command = ["report", "a.npz", "--threshold", "4", "--out", "p.html", "--interval", "none"]
    assert main([*command, *PROMISES, "--zoo"]) == 1
    text = (folder_with_scores / "p.html").read_text(encoding="utf-8")
    assert_is_at(text, be.load("a.npz"), 4.0)
    assert [x.split(":")[0] for x in answer(text)[:2]] == ["Shown", "Refuted"]
    thresholds = re.findall(r"(?:At|are at) the threshold ([\d.]+)", plain(text))
    assert len(thresholds) == 2 and {float(x) for x in thresholds} == {4.0}


def test_a_page_at_a_threshold_beyond_all_scores_ends_with_2(folder_with_scores, capsys):
    options = ["--threshold", "612", "--out", "p.html", "--interval", "none"]
    assert main(["report", "a.npz", *options]) == 2
    assert "the threshold 612 accepts all attempts" in capsys.readouterr().err
    assert (folder_with_scores / "p.html").exists()


def test_the_threshold_command_writes_a_page_at_its_threshold(folder_with_scores):
    assert main(["threshold", "a.npz", "--threshold", "4", *PROMISES, "--report", "q.html"]) == 1
    text = (folder_with_scores / "q.html").read_text(encoding="utf-8")
    assert_is_at(text, be.load("a.npz"), 4.0)


@pytest.mark.slow
def test_verdicts_name_the_systems_of_a_page_of_several(folder_with_scores):
    be.save(be.load("a.npz"), "b.npz")
    options = ["--threshold", "4", "--out", "p.html", "--interval", "none"]
    assert main(["report", "b.npz", "a.npz", *options, *PROMISES]) == 1
    text = (folder_with_scores / "p.html").read_text(encoding="utf-8")
    verdicts = [f"b and a: {word}" for word in ("Shown", "Refuted")]  # of equal files
    assert [x.rpartition(": the")[0] for x in answer(text)[-2:]] == verdicts
    assert {x["threshold"] for x in rates(text)} == {"4"}


@pytest.mark.parametrize(
    "options",
    [["--promise", "far=0.1"], ["--threshold", "4", "--assure", "0.9"], ["--threshold", "far=1%"]],
)
def test_a_promise_needs_a_threshold_and_an_assured_one_is_not_given(options, folder_with_scores):
    assert main(["report", "a.npz", "--out", "r.html", *options]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["far=0.1", "eer", "frr=0.05", 3.2])
def test_a_study_is_the_answer_and_the_rates_are_at_its_threshold(rule, scores, tmp_path):
    study = be.study_threshold(scores, rule, folds=3, repeats=1, interval=QUICK)
    threshold = study["threshold"].item()
    results = be.evaluate(scores, extra_thresholds=[threshold])
    further_results = [be.check_data(scores), be.zoo(scores, permutations=20)]
    text = written([results, study, *further_results], tmp_path)
    first, *_ = answer(text)
    assert first.startswith(("Install", "Chosen", "Provisional", "Given"))
    (printed,) = {number(x["threshold"]) for x in rates(text)}  # decides as the threshold does
    assert rates_in_per_cent(scores, printed) == rates_in_per_cent(scores, threshold)
    assert all({"task", "threshold", "FAR", "FRR"} <= {*x} for x in rates(text))
    row = results["verification/single"].sel(threshold=threshold)
    for name in ("far", "frr"):
        right = pytest.approx(100 * row[name].item(), abs=0.0051)
        assert number(rates(text)[0][name.upper()]) == right
    on_others = study["rates"].dataset.sel(part="test")
    support = [x for x in on_others if str(x).endswith("_supported")]
    if all(on_others[x] for x in support):  # by the training parts
        assert f"{100 * on_others.far.item():.2f}" in plain(text)
    titles = re.findall(r"<summary><h2>(.*?)</h2></summary>", text)
    assert {"Measures", "Threshold study", "Zoo", "Check"} <= set(titles)


@pytest.mark.slow
def test_rates_that_were_not_counted_at_the_threshold_of_the_answer_are_not_shown(scores, tmp_path):
    study = be.study_threshold(scores, 3.0123, folds=3, repeats=1, interval=QUICK)
    text = written([be.verification(scores), study], tmp_path)
    assert '<table id="rates">' not in text
    assert "has no rates at 3.0123" in " ".join(answer(text))
    text = written([be.verification(scores, thresholds=[3.0123]), study], tmp_path)
    far, frr = rates_in_per_cent(scores, 3.0123)
    assert number(rates(text)[0]["FAR"]) == pytest.approx(far, abs=0.0051)
    assert number(rates(text)[0]["FRR"]) == pytest.approx(frr, abs=0.0051)


@pytest.mark.slow
def test_every_part_of_a_page_is_at_the_promised_threshold(folder_with_scores):
    """The rates and the zoo."""
    contents = ["--zoo", "--explain", "2"]
    quick = ["--interval", "none", "--folds", "3", "--assure", "0.9", "--far", "0.1"]
    assert main(["report", "a.npz", "--out", "p.html", *contents, *quick]) == 0
    text = (folder_with_scores / "p.html").read_text(encoding="utf-8")
    promised = re.search(r"^Install ([\d.]+)\. With 90 % confidence", answer(text)[0])
    assert promised is not None
    heads = "At|are at"
    thresholds = [float(x) for x in re.findall(f"(?:{heads}) the threshold ([\\d.]+)", plain(text))]
    assert len({*thresholds}) == 1
    assert float(promised[1]) == pytest.approx(thresholds[0], rel=1e-5)
    far, frr = rates_in_per_cent(be.load("a.npz"), thresholds[0])
    first = rates(text)[0]
    for name, right in (("threshold", thresholds[0]), ("FAR", far), ("FRR", frr)):
        assert number(first[name]) == pytest.approx(right, abs=0.0051)


@pytest.mark.slow
def test_a_page_asks_for_nothing(tree, tmp_path):
    text = written(tree, tmp_path)
    page = Elements(text)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    for _, attrs in page.tags:
        for name in ("src", "href", "xlink:href"):
            assert attrs.get(name, "#").startswith(("data:", "#"))
        assert "style" not in attrs and not any(name.startswith("on") for name in attrs)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len({*ids}) and len(text) < 300_000


def test_text_from_the_data_is_never_markup(tmp_path):
    scores = be.simulate(8, 3, random_state=0)
    names = np.array([f"{EVIL}{label}" for label in scores.probe_labels])
    named_scores = be.Scores(np.asarray(scores.values), names)
    results = {
        EVIL: be.verification(named_scores),
        f"{EVIL}2": be.worst_pairs(named_scores, 2),
        f"{EVIL}3": be.by_group(named_scores, np.where(np.arange(24) // 3 % 2, EVIL, "y")),
        "row": be.explain(named_scores, 1, protocol="auto"),
    }
    text = written(results, tmp_path, title=EVIL, command=EVIL)
    page = Elements(text)
    assert not any("onerror" in attrs or tag == "b" for tag, attrs in page.tags if tag == "img")
    assert "script" not in [tag for tag, _ in page.tags] and "</script>" not in text
    assert EVIL in plain(text)


def test_worst_pairs_are_shown_with_their_images(tmp_path):
    from PIL import Image

    scores = be.simulate(4, 2, random_state=0)
    files = np.array([f"{i}.png" for i in range(8)])
    for file in files[:-1]:
        Image.new("L", (300, 200), 90).save(tmp_path / file)
    (tmp_path / files[-1]).write_text("no image")
    named_scores = be.Scores(
        np.asarray(scores.values), scores.probe_labels, probe_meta={"file": files}
    )
    pairs = be.worst_pairs(named_scores, 50)
    with pytest.warns(be.BioevalWarning, match="^1 image could not be shown, such as 7.png: it is"):
        text = written(pairs, tmp_path, images="file", image_folder=tmp_path)
    tags = Elements(text).tags
    thumbnails = [attrs for tag, attrs in tags if tag == "img" and attrs.get("class") == "thumb"]
    used = [*pairs["probe_meta_file"].values, *pairs["gallery_meta_file"].values]
    assert sorted(attrs["alt"] for attrs in thumbnails) == sorted(x for x in used if x != files[-1])
    assert "7.png: no image" in text and 'aria-label="Worst pairs' in text
    with pytest.raises(be.DataError, match="no metadata column 'photo' of images"):
        be.report(pairs, tmp_path / "x.html", images="photo")


def test_what_is_no_result_is_refused(tmp_path):
    tree = be.verification(simulated_scores(1))
    for wrong, type_name in ((3, "int"), (None, "NoneType"), ({"a": None, "b": tree}, "NoneType")):
        with pytest.raises(be.DataError, match=f"a report got {type_name}; expected a Dataset"):
            be.report(wrong, tmp_path / "x.html")
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(be.DataError, match="contains itself"):
        be.report(circle, tmp_path / "x.html")
    with pytest.raises(be.DataError, match="hold no dataset"):
        be.report({}, tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_page_writes_no_file(tmp_path):
    result = be.verification(simulated_scores(1))
    with pytest.raises(be.DataError, match="is a folder"):
        be.report(result, tmp_path)
    with pytest.raises(be.DataError, match="two results are called 'verification/single' of 'x'"):
        be.report({"x": [result, result]}, tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ results that belong together


@pytest.mark.slow
@pytest.mark.parametrize("study_of", [be.zoo, be.check_data, be.study_threshold])
def test_other_scores_under_the_same_labels_are_refused(study_of, scores, tmp_path):
    changed = scores.with_values(scores.values + 0.01, scores.kind)
    with pytest.raises(be.DataError, match="other scores, labels"):
        be.report([be.verification(scores), study_of(changed)], tmp_path / "a.html")
    be.report([be.verification(scores), study_of(scores)], tmp_path / "a.html")


def test_results_of_other_probes_kinds_and_exclusions_are_refused(scores, tmp_path):
    camera = {"camera": np.tile([0, 0, 1, 1], 30)}
    labels, name = scores.probe_labels, scores.name
    own = be.Scores(scores.values, labels, probe_meta=camera, name=name)
    similar = be.Scores(-scores.values, labels, kind="similarity", name=name)
    for other_scores in (scores.select(probes=range(100)), similar, own.excluding("camera")):
        with pytest.raises(be.DataError, match="do not belong on one page"):
            be.report([be.verification(own), be.zoo(other_scores)], tmp_path / "a.html")


def test_a_comparison_of_other_scores_is_refused(scores, tmp_path):
    def named(name, values):
        return be.Scores(values, scores.probe_labels, kind=scores.kind, name=name)

    first, second = named("a", scores.values), named("b", np.sqrt(scores.values))
    results = {"a": be.verification(first), "b": be.verification(second)}
    comparison = be.compare(first, named("b", scores.values**2))
    with pytest.raises(be.DataError, match="do not belong on one page"):
        be.report([results, comparison], tmp_path / "a.html")


@pytest.mark.slow
def test_checks_are_of_the_system_under_whose_name_they_are(scores, tmp_path):
    second_system = be.simulate(30, 4, random_state=3)
    results = {
        x: [be.verification(y), be.check_data(y)] for x, y in (("a", scores), ("b", second_system))
    }
    text = written(results, tmp_path)
    assert "<h2>Check: a</h2>" in text and "<h2>Check: b</h2>" in text
    results["b"][1] = results["a"][1]
    with pytest.raises(be.DataError, match="results of 'b' do not belong on one page"):
        be.report(results, tmp_path / "a.html")


# ----------------------------------------------------------------------------------- figures


def test_a_line_in_a_page_is_within_a_fifth_of_a_point_of_the_figure():
    from matplotlib.figure import Figure

    from bioeval.page.page import svg_of

    rng = np.random.default_rng(1)
    horizontal, vertical = np.sort(rng.random(60)), np.round(rng.random(60), 1)
    figure = Figure()
    axes = figure.add_subplot()
    (line,) = axes.plot(horizontal, vertical, color="#0072B2", drawstyle="steps-post")
    text = svg_of(figure, "f", "a <b>")
    assert 'aria-label="a &lt;b&gt;"' in text and "style=" not in text
    path = re.search(r'd="(M[^"]*)"[^>]*stroke="var\(--c0\)"', text)
    assert path is not None
    drawn, position = [], [0.0, 0.0]
    for sign, numbers in re.findall(r"([MLHV])([^MLHV]*)", path[1]):
        numbers_given = [float(x) for x in numbers.split()]
        if sign == "H":
            position = [numbers_given[0], position[1]]
        elif sign == "V":
            position = [position[0], numbers_given[0]]
        else:
            position = numbers_given
        drawn.append(position)
    curve = axes.transData.transform(np.column_stack([horizontal, vertical])) * 72 / figure.dpi
    curve[:, 1] = 72 * figure.get_size_inches()[1] - curve[:, 1]
    for point in curve:
        assert min(distance_to_segment(point, *ends) for ends in itertools.pairwise(drawn)) < 0.2
    assert line.get_color() == "#0072B2"


def test_marks_are_at_the_rates_and_the_threshold_of_the_page(tmp_path):
    """Marks stand on the DET of each system, and a line in each histogram of scores."""
    results = {name: be.verification(x) for name, x in two_systems("distance", 0.0).items()}
    tags = Elements(written(results, tmp_path)).tags
    marks = [attrs["class"] for _, attrs in tags if "transform" in attrs and "class" in attrs]
    assert marks == ["mark c0", "mark c1", "limit c6", "limit c6"]


def distance_to_segment(point, start, end) -> float:
    start, along = np.array(start), np.subtract(end, start)
    squared_length = (along**2).sum()
    share = 0  # of the segment before the foot of the perpendicular
    if squared_length:
        share = np.clip(((point - start) * along).sum() / squared_length, 0, 1)
    return float(np.hypot(*(point - start - share * along)))


@pytest.mark.slow
def test_a_page_of_six_systems_says_what_it_leaves_out(tmp_path):
    systems = {x: simulated_scores(i).replace(name=x) for i, x in enumerate("abcdef")}
    text = written({x: be.evaluate(y) for x, y in systems.items()}, tmp_path)
    title = "6 systems: a, b, c, d and 2 more"
    assert f"<h1>{title}</h1>" in text and f"<title>{title} - bioeval report</title>" in text
    (note,) = re.findall(r"Not drawn for room: [^<]*", text)
    assert "scores e, scores f" in note and "--plots draws them" in note
    assert text.index('id="rates"') < text.index("<p>")  # the table comes first
    assert [row["system"] for row in rates(text)] == [*systems]


@pytest.mark.slow
def test_attempts_and_people_are_columns_only_where_systems_differ_in_them(tmp_path):
    same = {x: simulated_scores(i) for i, x in enumerate("ab")}
    text = written({x: be.evaluate(y) for x, y in same.items()}, tmp_path)
    assert {"EER", "FAR", "FRR"} <= {*rates(text)[0]} and "attempts" not in rates(text)[0]
    attempts = be.verification(same["a"])
    said = f"{int(attempts.genuine_attempts):,} genuine and "
    assert said in plain(text)
    smaller = {**same, "b": same["b"].select(np.arange(len(same["b"].probe_labels) - 3))}
    text = written({x: be.evaluate(y) for x, y in smaller.items()}, tmp_path)
    assert [row["attempts"].startswith(said) for row in rates(text)] == [True, False]
