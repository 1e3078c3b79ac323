"""Names that people script against stay where they are."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import shutil
from pathlib import Path

import pytest
import stub

import bioeval as be

# Public names; from 1.0.0 on, one that goes leaves an error that names what does its work.
NAMES = {
    "bioeval": (
        "BioevalError BioevalWarning Calibrator CardError CheckpointError DataError "
        "check_claim check_tracks conventions morphing pad summaries vulnerability "
        "EngineError Fusion MergeError Meter PairMeter PairScores Protocol ProtocolError Scores "
        "Tally TopKScores apply_convention at by_group by_view calibration check check_data "
        "closed_set compare cross_evaluate eer_scorer epc error_discard evaluate exam explain fuse "
        "gallery_size gallery_templates gom groups load make_scorer "
        "normalise "
        "open_set parse_names partition plan plan_run plot ranks reid "
        "repeat report sample_size save simulate simulate_embeddings stats step_by_step "
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


@pytest.mark.parametrize("package", stub.packages(), ids=lambda package: package.__name__)
@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff, which lays stubs out, is missing")
def test_type_checkers_see_all_names(package):
    written = Path(f"{package.__file__}i").read_text(encoding="utf-8")
    assert written == stub.stub(package), "run: scripts/stub"


@pytest.mark.parametrize("module", NAMES)
def test_public_names_are_there(module):
    found = importlib.import_module(module)
    for name in NAMES[module].split():
        value = getattr(found, name)
        expected = type(be) if name in ("datasets", "partition", "plot", "stats") else None
        assert expected is None or isinstance(value, expected), name
    listed = {name for name in NAMES[module].split() if not is_error(getattr(found, name))}
    assert listed <= {*dir(found)}


def is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def test_errors_and_warnings_are_public_and_not_listed():
    errors = {name for name in be.__all__ if is_error(getattr(be, name))}
    assert {"BioevalError", "BioevalWarning", "DataError", "ProtocolError"} <= errors
    assert not errors & {*dir(be)}
    names: dict[str, object] = {}
    exec("from bioeval import *", names)
    assert errors <= {*names}


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


PLACES = {
    "best_mates": "studies.sites.gallery_parts", "BestMates": "studies.sites.gallery_parts",
    "refine_tally": "studies.sites.tally", "mean_over_galleries": "studies.galleries.results",
    "gom_from_curves": "studies.reid.results",
    "with_failures": "results.failures",
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_names_for_few_are_in_their_modules_alone(name):
    assert name not in be.__all__ and name not in dir(be) and not hasattr(be, name)
    assert callable(getattr(importlib.import_module(f"bioeval.{PLACES[name]}"), name))


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


def test_a_name_that_scores_lack_is_an_error():
    scores = be.simulate(5, 2)
    with pytest.raises(AttributeError, match="'Scores' object has no attribute 'strems'"):
        scores.strems  # noqa: B018
    assert not hasattr(scores, "_strems")
    assert pickle.loads(pickle.dumps(scores)).select([1, 0]).shape == (2, 2)


def test_an_error_within_a_property_of_scores_is_not_hidden(monkeypatch):
    monkeypatch.setattr(be.Scores, "values", property(lambda self: self.mask.no_such_name))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'no_such_name'"):
        be.simulate(5, 2).values  # noqa: B018
