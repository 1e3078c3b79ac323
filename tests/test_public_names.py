"""Names that people script against stay where they are."""

from __future__ import annotations

import ast
import importlib
import pickle
import pkgutil
from pathlib import Path

import click
import pytest

import bioeval as be
from bioeval.base.lazy import OF_STUDIES
from bioeval.base.offers import own_doors
from bioeval.cli import main
from bioeval.cli.lazy_group import REMOVED_OPTIONS, root
from bioeval.scores.labelled_matrix import FORMER

# The public names of version 0.2.0; one that goes leaves an error that names what does its work.
NAMES = {
    "bioeval": (
        "BioevalError BioevalWarning Calibrator CardError CheckpointError DataError "
        "check_claim check_tracks conventions extrapolate_far morphing pad summaries vulnerability "
        "EngineError Fusion MergeError PairScores Protocol ProtocolError Scores Tally "
        "TopKScores ageing apply_convention at by_group calibration check check_data "
        "closed_set compare cross_evaluate eer_scorer epc error_discard evaluate explain fuse "
        "gallery_size gallery_templates gom groups load make_scorer "
        "normalise "
        "open_set over_time parse_names partition plan plan_run plot ranks reid "
        "repeat report sample_size save simulate simulate_embeddings stats "
        "study_threshold summary tally threshold top_k tracking verification "
        "workload worst_pairs zoo"
    ),
    "bioeval.partition": (
        "ClaimSampler DrawnClaims EnrolledSplit Experiment ExperimentParts GalleryProbe "
        "PredefinedFolds PredefinedPairFolds ProbeGallerySplit RepeatedSampleKFold "
        "RepeatedSubjectKFold SampleKFold SampleShuffleSplit SubjectKFold SubjectShuffleSplit "
        "ThreeParts TrainValidationTest fold_codes repeated_fold_codes"
    ),
    "bioeval.stats": (
        "METHODS Interval RepeatedMean auc_jackknife clopper_pearson delong mansfield_wayman "
        "nadeau_bengio rank_agreement rule_of_3 rule_of_30 subject_bootstrap wilson "
        "zero_error_bound"
    ),
    "bioeval.datasets": "Faces faces",
    "bioeval.protocol": "Protocol available explain for_layout load parse",
}


@pytest.mark.parametrize("package", [be, be.plot, be.stats], ids=lambda x: x.__name__)
def test_stubs_have_what_studies_offer(package):
    """Type checkers read the stubs, and Python the doors."""
    stub = Path(f"{package.__file__}i").read_text(encoding="utf-8")
    tree = ast.parse(stub.partition(OF_STUDIES)[2].partition("\n")[2])
    written = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    offered = {}
    for study in own_doors().values():
        calls = {be: study.calls, be.stats: study.stats, be.plot: {}}[package]
        offered |= {name: home for home, names in calls.items() for name in names}
        if package is be.plot:
            offered |= {x: plot.home for plot in study.plots for x in (plot.name, plot.display)}
    assert written == offered, "run: scripts/stub"


@pytest.mark.parametrize("module", NAMES)
@pytest.mark.whole_house
def test_public_names_are_there(module):
    found = importlib.import_module(module)
    for name in NAMES[module].split():
        value = getattr(found, name)
        expected = type(be) if name in ("datasets", "partition", "plot", "stats") else None
        assert expected is None or isinstance(value, expected), name
    assert {*NAMES[module].split()} <= {*dir(found)}


def test_a_public_name_is_no_module_of_the_same_name():
    """A module that is imported would take the place of the name in its package."""
    import bioeval.partition.codes_of_folds  # noqa: F401

    assert callable(be.partition.fold_codes)
    modules = {module.name for module in pkgutil.iter_modules(be.__path__)}
    assert modules & {*be.__all__} == {"datasets", "partition", "plot", "stats"}


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("check", "check_data"),
        ("groups", "by_group"),
        ("plan", "plan_run"),
        ("threshold", "study_threshold"),
    ],
)
def test_short_and_long_names_are_one_function(short, long):
    assert getattr(be, short) is getattr(be, long)
    assert {short, long} <= {*dir(be)}
    assert long in be.__all__ and short not in be.__all__  # one name in documents


@pytest.mark.parametrize(
    ("name", "instead"),
    [("extend_tally", r"be\.tally counts all"), ("withdraw", r"be\.tally counts the scores")],
)
def test_names_that_were_removed_say_what_does_their_work(name, instead):
    with pytest.raises(AttributeError, match=rf"bioeval\.{name} was removed; {instead}") as caught:
        getattr(be, name)
    assert isinstance(caught.value, be.BioevalError) and "\n" not in str(caught.value)
    assert not hasattr(be, name) and name not in dir(be)
    with pytest.raises(ImportError):
        exec(f"from bioeval import {name}")


def test_a_name_that_was_renamed_works_with_a_warning(monkeypatch):
    monkeypatch.setitem(be._FORMER, "who_fails", "zoo")
    with pytest.warns(FutureWarning, match=r"bioeval\.who_fails is now bioeval\.zoo") as caught:
        assert be.who_fails is be.zoo
    assert caught[0].filename == __file__
    assert "who_fails" not in vars(be)  # the next use warns, too


PLACES = {
    "best_mates": "studies.sites.gallery_parts", "BestMates": "studies.sites.gallery_parts",
    "refine_tally": "studies.sites.tally", "mean_over_galleries": "studies.galleries.results",
    "gom_from_curves": "studies.reid.results", "step_by_step": "studies.explain.explain",
    "with_failures": "results.failures",
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_names_for_few_are_in_their_modules_and_warn_at_the_top(name):
    place = f"bioeval.{PLACES[name]}"
    assert name not in be.__all__ and name not in dir(be)
    with pytest.warns(FutureWarning, match=rf"bioeval\.{name} is now {place}\.{name};") as caught:
        found = getattr(be, name)
    assert found is getattr(importlib.import_module(place), name)
    assert caught[0].filename == __file__ and name not in vars(be)


SCORES = """
    from_embeddings from_pairs at_pairs
    values shape dtype kind name layout subjects probe_labels gallery_labels probe_ids gallery_ids
    probe_meta gallery_meta distractor_ids mask nan fingerprint
    select exclude excluding replace with_mask with_values
"""


def some_scores() -> list[be.Scores]:
    square = be.simulate(5, 2)
    people, names = [["a", "a"], ["a", "b"]], [["p", "q"], ["q", "r"]]
    pairs = be.Scores.from_pairs([0.1, 0.8], [1, 0], templates=names, subjects=people)
    return [square, pairs, be.TopKScores([[1, 0]], ["a"], ["a", "b"], distances=[[1.0, 2.0]])]


def test_scores_show_few_names():
    square, pairs, lists = (
        {x for x in (*dir(scores), *vars(scores)) if x[0] != "_"} for scores in some_scores()
    )
    of_pairs, of_lists = pairs - square, lists - square
    print(*(f"{len(x)}: {' '.join(sorted(x))}" for x in (square, of_pairs, of_lists)), sep="\n")
    assert square == {*SCORES.split()}
    assert len(square) <= 27 and len(of_pairs) <= 8 and len(of_lists) <= 8
    assert not square & {*FORMER}


@pytest.mark.parametrize("which", range(3))
def test_former_names_of_scores_work_with_a_warning(which):
    scores = some_scores()[which]
    former = {x for x in FORMER if f"_{x}" in dir(scores)}
    of_pairs = {"pair_codes", "templates", "attempts", "examined", "knows_subjects", "pieces"}
    of_pairs |= {"taking", "with_sides_exchanged"}
    lacks = of_pairs | {"listed_distances"}, {"codes", "listed_distances"}, {*of_pairs, "codes"}
    assert {*FORMER} - former <= lacks[which] and not former & {*dir(scores)}
    for name in former:
        expected = what_is(scores, f"_{name}")
        with pytest.warns(FutureWarning, match=rf"Scores\.{name} is now .*; the") as caught:
            assert what_is(scores, name) == expected
        assert FORMER[name] in str(caught[0].message)
        assert [x.filename for x in caught] == [__file__]


def what_is(scores: be.Scores, name: str) -> str:
    try:
        return repr(getattr(scores, name))
    except (AttributeError, be.ProtocolError) as error:  # of no matrix
        assert scores.layout in ("pairs", "top-k")
        return repr(error)


def test_a_former_method_of_scores_works_and_another_name_is_an_error():
    scores = be.simulate(5, 2)
    with pytest.warns(FutureWarning, match=r"Scores\.within is now memory_limit= of"):
        assert scores.within("100 MiB")._memory_limit == 100 << 20
    with pytest.raises(AttributeError, match="'Scores' object has no attribute 'strems'"):
        scores.strems  # noqa: B018
    assert not hasattr(scores, "_strems")
    assert pickle.loads(pickle.dumps(scores)).select([1, 0]).shape == (2, 2)


def test_an_error_within_a_property_of_scores_is_not_hidden(monkeypatch):
    monkeypatch.setattr(be.Scores, "values", property(lambda self: self.mask.no_such_name))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'no_such_name'"):
        be.simulate(5, 2).values  # noqa: B018


def test_new_names_of_former_ones_are_public():
    assert not {*be._FORMER} & {*be.__all__}
    renamed = [new for new in be._FORMER.values() if new.isidentifier()]
    assert {*renamed} <= {*be.__all__}


def test_arguments_that_were_removed_say_what_does_their_work():
    tally = be.tally(be.simulate(6, 2))
    for name in ("epsilon", "probes_per_person", "templates_per_person"):
        with pytest.raises(be.DataError, match=rf"{name} was removed; small counts .* min_count="):
            tally.share(**{name: 1})
    for name, instead in (("price", "core hours"), ("recalibrate", "measured in each call"),
                          ("frr_width", r"be\.sample_size")):  # fmt: skip
        with pytest.raises(be.DataError, match=f"{name} was removed; .*{instead}"):
            be.plan(templates=10, **{name: 1})


@pytest.mark.parametrize(
    "given",
    [
        *(f"plan --{x} 1" for x in ("price", "max-hours", "max-cost", "frr", "icc", "far")),
        *(f"plan --{x}" for x in ("far-icc=1", "width=0.1", "recalibrate")),
        *(f"tally x.npz --{x}-per-person 1" for x in ("probes", "templates")),
        "tally x.npz --epsilon=1",
        "extend x.npz",
        "withdraw x.npz",
    ],
)
def test_commands_and_options_that_were_removed_say_what_does_their_work(given, capsys):
    assert main(given.split()) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert " was removed; " in said[-1]


def test_no_removed_option_is_one_of_its_command():
    for command, options in REMOVED_OPTIONS.items():
        found = root.get_command(click.Context(root), command)
        assert not {*options} & {x for param in found.params for x in param.opts}
