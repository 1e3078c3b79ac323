"""Plots: the arrays are the dataset's, the axes say what they are, and files appear whole."""

import inspect
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import bioeval as be
from bioeval import plot
from bioeval.plot.systems import PLOTS

CURVES = ("roc", "det", "error_rates", "dir_far", "cmc")


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """No plot touches matplotlib's settings."""
    settings = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == settings


@pytest.fixture(scope="module")
def scores():
    return be.simulate(15, 4, within=0.7, random_state=1)


@pytest.fixture(scope="module")
def tree(scores):
    return be.evaluate(scores)


@pytest.fixture(scope="module")
def single(tree):
    return tree["verification/single"].to_dataset()


@pytest.fixture(scope="module")
def open_set(tree):
    return tree["open_set"].to_dataset()


@pytest.fixture(scope="module")
def systems(tree):
    worse = be.evaluate(be.simulate(15, 4, within=0.9, random_state=2))
    return xr.DataTree(children={"good": tree, "bad": worse})


@pytest.fixture(scope="module")
def similarity():
    return be.simulate(10, 4, model="gaussian-scores", kind="similarity", random_state=3)


def draw(display):
    """Draw for real: labels find their places, and nothing warns."""
    display.figure_.canvas.draw()
    return display


def words(display) -> str:
    """Everything that is written on the axes."""
    ax = display.ax_
    texts = [t.get_text() for t in ax.texts]
    titles = [ax.get_title("left"), ax.get_xlabel(), ax.get_ylabel()]
    return "\n".join([*titles, *texts])


def names_of(display) -> list[str]:
    """The names in the legend of a display."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# ------------------------------------------------------------------------------------- axes


def test_a_logarithmic_far_axis_ends_at_one_impostor_attempt(single, open_set):
    for display, dataset in (
        (plot.roc(single, log=True), single),
        (plot.dir_far(open_set, log=True), open_set),
    ):
        floor = 1 / int(dataset.impostor_attempts)
        assert display.ax_.get_xscale() == "log"
        low, high = display.ax_.get_xlim()
        assert low < floor and high == 1
        for line in display.lines_.values():
            assert line.get_xdata().min() == floor
        (shaded,) = display.ax_.patches
        assert shaded.get_extents().x1 == pytest.approx(
            display.ax_.transData.transform((floor, 0))[0]
        )


@pytest.mark.slow
def test_det_axes_are_normal_deviates_in_per_cent(single):
    display = draw(plot.det(single))
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert axis.get_scale() == "function"
        ticks = axis.get_majorticklocs()
        assert 0.01 in ticks and 0.4 in ticks
        tick_labels = [t.get_text() for t in axis.get_ticklabels()]
        assert {"1", "5", "20", "40"} <= set(tick_labels)
    # Equal steps of the normal deviate are equal steps on paper.
    rates = [0.158655, 0.5, 0.841345]
    places = display.ax_.transData.transform([(r, r) for r in rates])
    np.testing.assert_allclose(np.diff(places[:, 0]), np.diff(places[:, 0])[0], rtol=1e-4)


def test_det_axes_show_the_operating_points_of_the_result():
    scores = be.simulate(30, 4, within=1.2, random_state=1)
    ds = be.verification(scores, far_targets=[0.01, 0.3], frr_targets=[0.1])
    assert ds.frr_at_far[0] > 0.7 and ds.far_at_frr[0] > 0.3
    ax = plot.det(ds).ax_
    for far, frr in ((0.01, float(ds.frr_at_far[0])), (float(ds.far_at_frr[0]), 0.1)):
        assert (
            ax.get_xlim()[0] < far < ax.get_xlim()[1] and ax.get_ylim()[0] < frr < ax.get_ylim()[1]
        )
    ds = be.verification(scores)  # 0.01 % is not supported by 6,960 pairs: 0 false accepts
    assert ds.frr_at_far[1] < plot.det(ds).ax_.get_ylim()[1] < ds.frr_at_far[3]
    open_set = be.open_set(scores, far_targets=[0.1])
    assert 1 - open_set.dir_at_far[0, 0] < plot.det(open_set).ax_.get_ylim()[1]


def test_a_system_without_errors_is_said_to_be_off_the_det():
    perfect = be.verification(be.Scores([[0, 1, 9], [1, 0, 9], [9, 9, 0]], ["a", "a", "b"]))
    assert "both rates are smaller" in words(draw(plot.det(perfect))).lower()


def test_error_rates_step_where_the_counts_change_and_mark_the_eer(single, similarity):
    display = plot.error_rates(be.verification(similarity))
    assert display.lines_["FAR"].get_drawstyle() == "steps-pre"
    assert "accepted if ≥ t" in words(display)
    thresholds, rates = display.lines_["FAR"].get_data()
    assert (np.diff(thresholds) > 0).all() and rates[0] == 1 and rates[-1] == 0
    display = plot.error_rates(single)
    assert display.lines_["FAR"].get_drawstyle() == "steps-post"
    assert "accepted if ≤ t" in words(display)
    (text,) = (name for name in names_of(display) if "EER" in name)
    assert f"{100 * float(single.eer):.2f} %" in text
    assert float(text.split(" at ")[1]) == pytest.approx(float(single.eer_threshold), rel=0.01)
    points = [line.get_xydata().tolist() for line in display.ax_.lines]
    assert [[float(single.eer_threshold), float(single.eer)]] in points
    without_eer = plot.error_rates(single.drop_vars(["eer", "eer_threshold"]))
    assert "EER" not in "".join(names_of(without_eer))


# ------------------------------------------------------------------------- several systems


def test_systems_differ_in_colour_and_variants_in_markers(systems):
    """A dash looks like a step: curves in steps are solid."""
    lines = plot.roc(systems).lines_
    colours = {name: line.get_color() for name, line in lines.items()}
    marks = {name: line.get_marker() for name, line in lines.items()}
    good, good_multi, bad, bad_multi = lines
    assert colours[good] == colours[good_multi] != colours[bad] == colours[bad_multi]
    assert marks[good] == marks[bad] != marks[good_multi] == marks[bad_multi]
    assert {line.get_linestyle() for line in lines.values()} == {"-"}
    fourteen = plot.roc({f"s{i}": systems["good/verification/single"] for i in range(14)})
    assert len({line.get_color() for line in fourteen.lines_.values()}) == 14


# ------------------------------------------------------------------- genuine and impostor scores


def brute(histogram, values, kind):
    """Count values into the bins of a histogram, value by value."""
    counts = np.zeros(len(histogram.counts), dtype=int)
    edges = histogram.edges
    for value in values:
        for place in range(len(counts)):
            low, high = edges[place], edges[place + 1]
            if (low <= value < high) if kind == "similarity" else (low < value <= high):
                counts[place] += 1
    # An end bin holds its own end as well.
    end = -1 if kind == "similarity" else 0
    counts[end] += (values == edges[end]).sum()
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_histograms_count_exactly(kind, similarity, scores):
    scores_used = similarity if kind == "similarity" else scores
    same = scores_used.probe_labels[:, None] == scores_used.gallery_labels
    off = ~np.eye(len(same), dtype=bool)
    values = np.asarray(scores_used.values, dtype=np.float64)
    display = plot.score_distributions(scores_used)
    for histogram, mine in (
        (display.drawn[""].of_class("genuine"), values[same & off]),
        (display.drawn[""].of_class("impostor"), values[~same]),
    ):  # fmt: skip
        assert histogram.total == len(mine) == histogram.counts.sum()
        np.testing.assert_array_equal(histogram.counts, brute(histogram, mine, kind))
        assert (histogram.density * np.diff(histogram.edges)).sum() == pytest.approx(1)
    assert ("larger is closer" if kind == "similarity" else "smaller is closer") in words(display)


@pytest.mark.parametrize(
    "values",
    [np.full((4, 4), 0.5), np.zeros((4, 4)), np.arange(16).reshape(4, 4) * 1e-300],
    ids=["equal", "zero", "tiny"],
)
def test_distributions_of_odd_scores(values):
    display = draw(plot.score_distributions(be.Scores(values, ["a", "a", "b", "b"])))
    assert display.drawn[""].of_class("genuine").counts.sum() == 4
    assert display.drawn[""].of_class("impostor").counts.sum() == 8
    draw(plot.score_distributions(be.Scores(values, ["a", "a", "b", "b"]), log=True))
    infinite = np.array(values)
    infinite[0, 2:] = np.inf
    display = plot.score_distributions(be.Scores(infinite, ["a", "a", "b", "b"]))
    assert display.drawn[""].of_class("impostor").unplaced == 2
    assert "2 impostor scores lie off the axis" in words(display).replace("\n", " ")


# ---------------------------------------------------------------------------------- matrix


def test_matrix_reduces_to_means_of_finite_scores():
    rng = np.random.default_rng(5)
    values = rng.random((23, 17))
    values[3, :] = np.nan
    values[:, 5] = np.inf
    mask = np.ones((23, 17), dtype=np.uint8)
    mask[10:14, 8:] = 0
    probe, gallery = rng.integers(0, 6, 23), rng.integers(0, 4, 17)
    mask[mask > 0] += (probe[:, None] == gallery)[mask > 0].astype(np.uint8)
    scores = be.Scores(values, probe, gallery, mask=mask, nan="exclude")
    display = plot.matrix(scores, pixels=7)
    picture = display.drawn
    assert picture.image.shape == (7, 7)
    # Subjects that are not enrolled come last.
    enrolled = np.isin(probe[picture.rows], gallery)
    assert (np.diff(enrolled.astype(int)) <= 0).all()
    reduced = np.where(mask == 0, -1.0, values)[np.ix_(picture.rows, picture.columns)]
    for i, j in np.ndindex(7, 7):
        rows = slice(*picture.row_edges[i : i + 2])
        cell = reduced[rows, slice(*picture.column_edges[j : j + 2])]
        finite_scores = cell[np.isfinite(cell) & (cell >= 0)]
        if len(finite_scores):
            assert picture.image[i, j] == pytest.approx(finite_scores.mean())
            assert picture.state[i, j] == 0
        else:
            worst = 3 if np.isinf(cell).any() else 2 if np.isnan(cell).any() else 1
            assert picture.state[i, j] == worst
    draw(display)


# -------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "node", "message"),
    [
        ("roc", "closed_set", "draws far and gar of be.verification, but .* be.plot.cmc draws it"),
        ("roc", "open_set", "has no gar; be.plot.det"),
        ("cmc", "verification/single", "has no cms; be.plot.roc"),
        ("dir_far", "closed_set", "has no far and no dir"),
        ("dir_far", "verification/multi", "has no dir; be.plot.roc, det"),
    ],
)
def test_a_result_of_another_task_is_refused(tree, name, node, message):
    with pytest.raises(be.DataError, match=message):
        getattr(plot, name)(tree[node].to_dataset())
    with pytest.raises(be.DataError, match="no node of the tree"):
        getattr(plot, name)(tree[node])


@pytest.mark.slow
def test_other_things_are_refused(single, similarity, scores, open_set):
    of_similarities = be.verification(similarity)
    folds = be.cross_evaluate(scores, be.partition.SubjectKFold(3))
    for call, message in (
        (lambda: plot.roc([single]), "got list; expected a result of be.verification"),
        (lambda: plot.roc({}), "empty mapping"),
        (lambda: plot.roc(single, name=3), "`name` is 3; expected text"),
        (lambda: plot.roc(xr.concat([single, single], "fold")), "choose a fold first|one thresh"),
        (lambda: plot.dir_far(open_set, ranks=(1, 999)), "rank 999 is not in the result.*999"),
        (
            lambda: plot.error_rates({"a": single, "b": of_similarities}),
            "'a' holds distances, 'b' holds sim",
        ),
        (lambda: plot.score_distributions({"a": scores, "b": similarity}), "no common axis"),
        (lambda: plot.roc({"a": folds}), r"give far_targets= to be\.cross_evaluate"),
        (lambda: plot.det(folds.isel(repeat=0)), "give far_targets=|draws it over threshold"),
        (lambda: plot.det(folds.isel(repeat=0, fold=0)), "give far_targets=|draws it over thr"),
    ):
        with pytest.raises(be.DataError, match=message):
            call()
    draw(plot.roc({"a": single, "b": of_similarities}, log=True))
    draw(plot.matrix(scores, name=r"no formula: $\foo$"))
    with pytest.raises(AttributeError, match="rocc"):
        _ = plot.rocc


# --------------------------------------------------------------------------- axes and files


@pytest.mark.parametrize("name", [*CURVES, "score_distributions", "matrix"])
def test_a_given_axis_is_used_and_nothing_else(name, tree, scores):
    figure = Figure(layout="constrained")
    ax = figure.add_subplot()
    data = scores if name in ("score_distributions", "matrix") else tree
    display = getattr(plot, name)(data, ax)
    assert display.ax_ is ax and display.figure_ is figure
    assert plt.get_fignums() == []
    draw(display)


def test_a_file_appears_whole_or_not_at_all(tree, tmp_path, monkeypatch):
    path = tmp_path / "roc.png"
    path.write_bytes(b"before")

    def fails(self, file, **_):
        file.write(b"half")
        raise OSError("disk full")

    display = plot.roc(tree)
    monkeypatch.setattr(Figure, "savefig", fails)
    with pytest.raises(OSError, match="disk full"):
        plot.save(display, path)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["roc.png"]


@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_takes_its_data_axes_and_style(name):
    parameters = inspect.signature(getattr(plot, name)).parameters
    first, second, *options, last = parameters
    assert first in ("data", "scores", "results") and (second, last) == ("ax", "style"), (
        f"be.plot.{name} has other arguments. CONTRIBUTING.md, 'Rules', Plots: a plot is a "
        "function plot(data, ax=None, *, ..., **style)."
    )
    assert all(parameters[x].kind is inspect.Parameter.KEYWORD_ONLY for x in options)


@pytest.mark.slow
def test_save_all_writes_what_there_is(tree, scores, systems, tmp_path):
    written = plot.save_all(tree, scores, tmp_path / "plots")
    assert all(path.stat().st_size > 2000 for path in written)
    assert [path.name for path in written] == [
        "roc.png", "roc-log.png", "det.png", "error-rates-single-template.png",
        "error-rates-multi-template.png", "dir-far.png", "dir-far-log.png",
        "cmc.png", "score-distributions.png", "matrix.png",
    ]  # fmt: skip
    assert plt.get_fignums() == []
    selected = systems.filter(lambda node: "cms" in node.data_vars or "single" in node.path)
    names = [p.name for p in plot.save_all(selected, None, tmp_path / "systems", ("png", "svg"))]
    assert names == [
        f"{name}.{kind}"
        for name in ("roc", "roc-log", "det", "error-rates-good", "error-rates-bad", "cmc")
        for kind in ("png", "svg")
    ]


@pytest.mark.slow
def test_precision_recall_draws_the_levels_of_each_system(tmp_path):
    values = np.random.default_rng(0).random((20, 60))
    people, gallery = np.arange(20) % 8, np.arange(60) % 8
    closer = be.Scores(values - 0.4 * (people[:, None] == gallery), people, gallery)
    options = {"interval": "subject-bootstrap", "max_rank": 5}
    result = {
        "near": be.reid(closer, "viper", **options),
        "far": be.reid(be.Scores(values, people, gallery), "viper", **options),
    }
    display = plot.precision_recall(result)
    for name, ds in result.items():
        np.testing.assert_array_equal(display.lines_[name].get_xdata(), ds.recall_level)
        np.testing.assert_array_equal(
            display.lines_[name].get_ydata(), ds.interpolated_precision.values
        )
        assert name in display.bands_
    assert display.ax_.get_xlabel() == "Recall"
    names = [p.name for p in plot.save_all(result, None, tmp_path)]
    assert names == ["cmc.png", "precision-recall.png"]
    with pytest.raises(be.DataError, match="interpolated_precision"):
        plot.precision_recall(be.closed_set(closer))


@pytest.mark.parametrize("name", [*CURVES, "gallery_size", "threshold_study"])
def test_pictures_have_the_terms_of_the_standard_beside_the_axes(name, scores, tree):
    data = {
        "gallery_size": lambda: be.gallery_size(scores, [2, 15]),
        "threshold_study": lambda: be.study_threshold(scores, "far=0.01", folds=3, repeats=1),
        "error_rates": lambda: tree["verification/single"],
    }.get(name, lambda: tree)()
    ours, theirs = {"FAR", "FRR", "GAR", "DIR", "CMS"}, {"FMR", "FNMR", "FPIR", "FNIR", "TPIR"}
    display = getattr(plot, name)(data)
    texts = [text.get_text() for text in display.figure_.findobj(mpl.text.Text)]
    text = " ".join(" ".join(texts).split())
    notes = re.findall(r"\(ISO: [^()]*(?:\([^()]*\)[^()]*)*\)", text)
    for note in notes:
        text = text.replace(note, "")
    message, aside = set(re.findall(r"\w+", text)), set(re.findall(r"\w+", " ".join(notes)))
    assert message & ours and not message & theirs
    assert not aside & ours
    assert aside & theirs or not message & {"FAR", "FRR", "DIR"}  # ISO calls CMS by no other name


def of_folds(seed, **options):
    scores = be.simulate(12, 3, within=0.9, random_state=seed)
    return be.cross_evaluate(scores, be.partition.SubjectKFold(3), **options)


def mean_and_limits(ds):
    summary = be.aggregate(ds, ("repeat", "fold"))
    mean = summary.frr_at_far.sel(statistic="mean")
    return mean, summary.frr_at_far_low, summary.frr_at_far_high


@pytest.mark.parametrize("plot", [be.plot.roc, be.plot.det])
def test_folds_at_one_target_are_dots_with_a_bar(plot):
    ds = of_folds(1, far_targets=[0.2])
    display = plot(ds)
    folds = ds.frr_at_far.values.ravel()
    mean, low, high = (x.item() for x in mean_and_limits(ds))
    if plot is be.plot.roc:
        folds, mean, low, high = 1 - folds, 1 - mean, 1 - high, 1 - low
    (line,) = display.lines_.values()
    points = [x for x in display.ax_.lines if len(x.get_xdata()) == 1]
    assert all(x.get_marker() not in ("None", "", None) for x in points)
    drawn = [x.get_ydata()[0] for x in points if x is not line]
    assert sorted(drawn) == pytest.approx(sorted(folds))
    assert line.get_ydata() == pytest.approx([mean])
    (bar,) = display.bands_.values()
    np.testing.assert_allclose(bar.get_segments()[0], [[0.2, low], [0.2, high]])
    text = " ".join(x.get_text() for x in display.figure_.findobj(mpl.text.Text))
    assert "small dots: 3 folds" in text.replace("\n", " ") and "bars: 95 %" in text
    assert "thin lines" not in text and "bands" not in text


@pytest.mark.parametrize("plot", [be.plot.roc, be.plot.det])
def test_folds_are_thin_lines_with_their_mean(plot):
    """FAR targets may be in any order; systems differ in colour."""
    targets = [0.5, 0.05, 1, 0.2]
    result = {name: of_folds(i, far_targets=targets) for i, name in enumerate("ab")}
    display = plot(result)
    places = np.argsort(targets)
    assert list(display.lines_) == ["a", "b"]
    for name, ds in result.items():
        frr = ds.frr_at_far.values.reshape(3, 4)[:, places]
        mean, low, high = (x.values[places] for x in mean_and_limits(ds))
        if plot is be.plot.roc:
            frr, mean, low, high = 1 - frr, 1 - mean, 1 - high, 1 - low
        line = display.lines_[name]
        np.testing.assert_array_equal(line.get_xdata(), np.sort(targets))
        np.testing.assert_allclose(line.get_ydata(), mean)
        curve = display.curves[name]
        np.testing.assert_allclose([curve.low, curve.high], [low, high])
        thin = [x for x in display.ax_.lines if x.get_color() == line.get_color() and x is not line]
        thin = [x.get_ydata() for x in thin if len(x.get_xdata()) == 4]
        np.testing.assert_allclose(thin, frr)
