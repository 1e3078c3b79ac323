"""Manifests of studies: what the core asks, and who answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import bioeval as be
from bioeval.base import studies
from bioeval.base.errors import NoResultError, ProtocolError
from bioeval.base.manifest import BY_NAME, HOOKS
from bioeval.base.studies import hooks, manifests
from bioeval.evaluation.plan import of_study
from bioeval.protocol import load

PACKAGE = Path(be.__file__).parent


@pytest.fixture
def without(monkeypatch):
    """Take studies away: manifests without them."""

    def take(*names):
        kept = {name: study for name, study in manifests().items() if name not in names}
        monkeypatch.setattr(studies, "manifests", lambda: kept)

    return take


@pytest.mark.slow  # loads what draws pages
def test_each_question_is_asked_and_studies_answer_no_other():
    answered = {name for study in manifests().values() for name in study.hooks}
    assert answered == HOOKS.keys()
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    for name in HOOKS:
        assert any(f'hooks("{name}")' in text for text in sources), name
        assert all(map(callable, hooks(name)))


def test_manifests_are_read_by_several_threads_at_once():
    from bioeval.studies.zoo import STUDY

    first, second = (STUDY.resolved("bioeval.studies.zoo") for _ in range(2))
    assert [view.home for view in (*first.views, *second.views, *STUDY.views)] == [
        *["bioeval.studies.zoo.section"] * 2,
        "section",
    ]
    assert first.calls == second.calls == manifests()["zoo"].calls


def test_names_of_be_stats_come_from_manifests():
    assert be.stats.nadeau_bengio.__module__ == "bioeval.studies.folds.intervals"
    assert {"nadeau_bengio", "RepeatedMean", "wilson"} <= {*be.stats.__all__}


def test_without_the_check_nothing_is_said(without):
    from bioeval.cli.study_command import refuse, with_doubts

    scores = be.Scores([[0.1, 0.2]], ["a"], ["a", "a"], name="alone")
    with pytest.raises(NoResultError, match="of alone: "):
        refuse([scores], "auto")
    without("check")
    with pytest.raises(NoResultError, match="no rate is defined for these data$"):
        refuse([scores], "auto")
    tree = object()
    assert with_doubts(tree, scores, "auto", None) is tree


def test_without_pages_a_page_is_refused(without, tmp_path):
    from click.testing import CliRunner

    from bioeval.cli.run import command

    page = str(tmp_path / "p.html")
    without("page")
    found = CliRunner().invoke(command, ["absent.npz", "--report", page])
    assert found.exit_code == 2 and "this installation writes no pages" in found.output


def test_a_protocol_leaves_out_what_its_tasks_do():
    from bioeval.evaluation.plan import compared

    camera = {"camera": [1, 1, 2]}
    scores = be.Scores([[1.0, 2, 3]], [7], [7, 8, 7], probe_meta={"camera": [1]},
                       gallery_meta=camera)  # fmt: skip
    assert compared(scores, "market1501")._read_mask(0, 1).tolist() == [[0, 1, 2]]


def test_images_of_worst_pairs_go_with_plots(tmp_path):
    import click

    from bioeval.cli.outputs import Output
    from bioeval.studies.worst_pairs.command import ListedPairs

    def options():
        return {"worst": 2, "images": "image", "images_root": str(tmp_path)}

    drawn = Output(tmp_path, force=False, plots=True, as_json=False)
    found = ListedPairs(options(), "s.npz", drawn)
    assert found.page_options == {"images": "image", "image_folder": tmp_path}
    plain = Output(tmp_path, force=False, plots=False, as_json=False)
    with pytest.raises(click.UsageError, match="--report HTML or --plots"):
        ListedPairs(options(), "s.npz", plain)


#: What the core calls in the modules of each kind.
CALLED = {
    "counts": ("dataset", "scalars", "with_intervals"),
    "tasks": ("plan", "compared", "CALLS"),
    "runners": ("evaluate",),
    "columns": ("column_warnings",),
    "galleries": (),
    "saved": ("CLASSES", "NODES"),
}
OFFERS = [
    (what, name)
    for what in BY_NAME
    for one in studies.manifests().values()
    for name in getattr(one, what)
]


def test_all_that_is_offered_by_name_is_called():
    assert set(CALLED) == set(BY_NAME) == {what for what, _ in OFFERS}


@pytest.mark.parametrize(("what", "name"), OFFERS)
def test_a_module_of_a_manifest_has_what_the_core_calls(what, name):
    home = studies.offered(what, name)
    assert all(hasattr(home, x) for x in CALLED[what])
    if what == "galleries":
        assert hasattr(home, {"drawn": "RandomGalleries", "mean": "mean_over_galleries"}[name])
    if what == "saved":
        assert name in home.CLASSES
        assert not home.NODES or callable(home.damage)
    if what == "tasks":
        assert callable(home.CALLS[name])
    if (what, name) == ("runners", "top-k"):
        assert callable(home.open_set)


def test_two_studies_offer_nothing_under_one_name():
    assert len(set(OFFERS)) == len(OFFERS)


def test_a_section_of_a_card_that_no_study_evaluates_is_refused():
    assert studies.offered("tasks", "tracking") is None
    with pytest.raises(ProtocolError, match=r"course-kfold .*\[tracking\].* leave it out"):
        of_study("tasks", "tracking", load("course-kfold"))
