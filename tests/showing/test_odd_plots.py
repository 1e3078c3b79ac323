"""Plots of odd data say what is not there: absent, undefined, tied, off the axes, from how many."""

import collections
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_plots import MANY, drawn, texts
from matplotlib.collections import QuadMesh

import bioeval as be
from bioeval import plot
from bioeval.partition import SubjectKFold
from bioeval.plot.systems import PLOTS


def constant(people: int = 8) -> be.Scores:
    return be.Scores(np.full((4 * people, 4 * people), 0.3), np.repeat(np.arange(people), 4))


def tied() -> be.Scores:
    scores = be.simulate(20, 4, random_state=1)
    return be.Scores(np.round(np.asarray(scores.values) / 1.5) * 1.5, scores.probe_labels)


def written(display) -> str:
    """Every text of a figure, with its lines joined."""
    words = " | ".join(text.get_text() for text in texts(display.figure_))
    return words.replace("\n", " ")


def tick_labels(figure):
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            yield [label.get_text() for x, label in ticks if low <= x <= high and axes.axison]


def test_constant_scores_are_off_the_det():
    display = plot.det(be.verification(constant()))
    assert "Off the axes" in written(display) and "EER 50.00 %" in written(display)
    assert display.legend_ is None
    drawn_together = {"constant": constant(), "usual": be.simulate(8, 4, random_state=1)}
    display = plot.det({name: be.verification(x) for name, x in drawn_together.items()})
    assert "; constant: off the axes, one rate is larger at each" in written(display)
    assert "usual: off" not in written(display)


def test_the_only_curve_of_two_systems_is_named_at_its_end():
    one_person = be.Scores(np.random.default_rng(0).random((4, 3)), np.zeros(4), np.zeros(3))
    scores = {"usual": be.simulate(10, 3), "one person": one_person}
    display = plot.roc({name: be.verification(x) for name, x in scores.items()})
    assert list(display.lines_) == ["usual"] and display.legend_ is None
    assert "usual" in [text.get_text() for text in texts(display.figure_)]
    assert "one person: no impostor attempt: FAR is not defined" in written(display)


def test_a_roc_of_ties_says_why_its_area_is_not_the_auc():
    result = be.verification(tied())
    display = plot.roc(result)
    assert "less than AUC, which counts a tie half" in written(display)
    (line,) = display.lines_.values()
    assert line.get_drawstyle() == "steps-post"
    far, gar = line.get_data()
    assert float(np.diff(far) @ gar[:-1]) < float(result.auc) - 0.01
    assert "tie" not in written(plot.roc(be.verification(be.simulate(20, 4, random_state=1))))


@pytest.mark.slow
def test_a_rate_of_one_fold_says_of_how_many():
    """Of three folds of four people, two test a single person, who has no impostor attempts."""
    ds = be.cross_evaluate(be.simulate(4, 3, random_state=1), SubjectKFold(3))
    assert np.isfinite(ds.far.sel(part="test")).sum() == 1
    assert "FAR is defined in 1 of 3 folds" in written(plot.folds(ds))
    usual = be.cross_evaluate(be.simulate(12, 3, random_state=1), SubjectKFold(3))
    assert "of 3 folds" not in written(plot.folds(usual))


def test_a_system_without_a_value_is_named_in_its_ranking():
    systems = {x: be.simulate(12, 3, random_state=i) for i, x in enumerate(("first", "second"))}
    ds = be.compare(systems, measures=["eer"])
    ds["eer"] = ds.eer.where(ds.system != "second")
    assert "not defined: second" in written(plot.ranking(ds))


def test_a_list_of_colours_is_of_the_systems_as_given_and_not_of_their_ranks():
    systems = {x: be.simulate(12, 3, within=s, random_state=1) for x, s in (("b", 1.5), ("a", 0.3))}
    display = plot.ranking(be.compare(systems, measures=["eer"]), colors=["red", "blue"])
    assert [x.get_text() for x in display.ax_.get_yticklabels()] == ["a", "b"]
    points = display.ax_.collections[-1].get_facecolors()[:, :3]
    assert points.tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("people", [4, 30])
def test_ticks_of_whole_numbers_do_not_repeat(people):
    scores = be.simulate(people, 3, random_state=1)
    for display in (
        plot.gallery_size(be.gallery_size(scores)),
        plot.cmc(be.closed_set(scores)),
        plot.matrix(scores),
    ):
        for labels in tick_labels(display.figure_):
            names = [label for label in labels if label]
            assert not [x for x, n in collections.Counter(names).items() if n > 1]
    ticks = plot.gallery_size(be.gallery_size(be.simulate(4, 3, random_state=1))).ax_.get_xticks()
    assert ticks.tolist() == [2, 3, 4]


def groups(n: int, **options):
    scores = be.simulate(n, 4, within=0.8, random_state=1)
    lot = np.random.default_rng(3).choice(list("abc"), n + 1)[scores.probe_labels]
    return be.by_group(scores, lot, threshold="far=0.01", **options)


@pytest.mark.slow
def test_colours_of_groups_begin_at_0_and_have_a_bar():
    ds = groups(150)
    display = plot.groups(ds)
    image = display.figure_.axes[1].images[0]
    assert image.norm.vmin == 0 and image.norm.vmax == float(ds.far[:-1, :-1].max())
    assert image.norm(ds.far[:-1, :-1].values).min() > 0.5  # groups by lot look alike
    bar = display.figure_.axes[2]
    assert any(isinstance(x, QuadMesh) for x in bar.collections)
    assert f"equal groups: p = {float(ds.frr_groups_p):.2g}" in written(display)
    assert display.ax_.collections  # the intervals of FRR
    assert "equal groups" not in written(plot.groups(groups(150, interval=None)))


@pytest.mark.slow
def test_a_zoo_of_people_who_fail_alike_names_none():
    display = plot.zoo(be.zoo(constant(), permutations=9))
    assert not display.drawn and "named" not in display.caption
    assert "doves 0" in written(display)


#: What the line below the title says of the attempts and people, by plot.
ATTEMPTS = {
    "cmc": r"120 genuine attempts of 30 subjects; gallery: 120 templates of 30 subjects",
    "dir_far": "120 genuine and 120 impostor attempts of 30 subjects; gallery: 120 templates",
    **dict.fromkeys(("roc", "det", "error_rates", "score_distributions", "groups"), "360 genuine"),
    **dict.fromkeys(("zoo", "ranking", "worst_pairs", "repeated"), "subjects, all against all"),
    "hota": "targets with",
    "ranked_lists": "queries",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLOTS))
def test_each_plot_says_from_how_many_people_and_attempts(name):
    display = drawn(name)
    assert ATTEMPTS.get(name, "") in display.caption
    assert any(x in display.caption for x in ("subjects", "queries", "targets"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({"cmc", "det", "dir_far", "error_rates", "roc"}))
def test_ten_systems_are_told_apart_without_colours(name):
    call = {"cmc": be.closed_set, "dir_far": be.open_set}.get(name, be.verification)
    results = {f"s{i}": call(be.simulate(8, 3, random_state=i)) for i in range(10)}
    display = getattr(plot, name)(results)
    looks = collections.Counter(
        (str(line._unscaled_dash_pattern), line.get_marker()) for line in display.lines_.values()
    )
    assert max(looks.values()) == 1


def test_names_are_at_the_ends_of_curves_where_they_fit():
    assert "gallery_size" in MANY
    systems = {"alpha": 0.6, "beta": 0.9, "gamma": 1.2}
    results = {
        name: be.closed_set(be.simulate(25, 4, within=within, random_state=1))
        for name, within in systems.items()
    }
    display = plot.cmc(results, max_rank=5)
    display.figure_.canvas.draw()
    assert display.legend_ is None and display.ax_.get_legend() is None
    assert display.caption.endswith("alpha, beta, gamma")
    ends = {x.get_text(): x for x in display.ax_.texts if x.get_text() in systems}
    assert [*ends] == [*systems]
    boxes = [text.get_window_extent() for text in ends.values()]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    for name, text in ends.items():
        line = display.lines_[name]
        x, y = (values[-1] for values in line.get_data())
        assert text.xy == (x, y) and text.get_color() == line.get_color()
        right = display.ax_.transData.transform((x, y))[0]
        assert right < text.get_window_extent().x0
        assert text.get_window_extent().x1 <= display.figure_.bbox.x1
    assert plot.cmc(results).legend_ is not None  # all curves end at 1
    plt.close("all")
