"""Names that people script against stay where they are."""

from __future__ import annotations

import importlib

import pytest

import bioeval as be

# The public names of version 0.1.0; one that goes leaves an error that names what does its work.
NAMES = {
    "bioeval": (
        "BestMates BioevalError BioevalWarning Calibrator CardError CheckpointError DataError "
        "EngineError Fusion MergeError PairScores Protocol ProtocolError Scores Tally TopKScores "
        "ageing apply_convention at best_mates by_group calibration check_data closed_set compare "
        "cross_evaluate eer_scorer epc error_discard evaluate explain fuse gallery_size gom "
        "gom_from_curves load make_scorer mean_over_galleries normalise open_set over_time "
        "parse_names partition plan_run plot ranks refine_tally reid repeat report sample_size "
        "save simulate simulate_embeddings stats step_by_step study_threshold summary tally top_k "
        "tracking verification with_failures workload worst_pairs zoo"
    ),
    "bioeval.partition": (
        "ClaimSampler DrawnClaims EnrolledSplit Experiment ExperimentParts GalleryProbe "
        "PredefinedFolds PredefinedPairFolds ProbeGallerySplit RepeatedSampleKFold "
        "RepeatedSubjectKFold SampleKFold SampleShuffleSplit SubjectKFold SubjectShuffleSplit "
        "ThreeParts TrainValidationTest fold_codes repeated_fold_codes"
    ),
    "bioeval.stats": (
        "METHODS Interval RepeatedMean auc_jackknife clopper_pearson delong mansfield_wayman "
        "nadeau_bengio rule_of_3 rule_of_30 subject_bootstrap wilson zero_error_bound"
    ),
    "bioeval.protocol": "Protocol available explain for_layout load parse",
}


@pytest.mark.parametrize("module", NAMES)
def test_public_names_are_there(module):
    found = importlib.import_module(module)
    for name in NAMES[module].split():
        value = getattr(found, name)
        expected = type(be) if name in ("partition", "plot", "stats") else None
        assert expected is None or isinstance(value, expected), name
    assert {*NAMES[module].split()} <= {*dir(found)}


def test_a_public_name_is_no_module_of_the_same_name():
    """A module that is imported would take the place of the name in its package."""
    import bioeval.partition.codes_of_folds  # noqa: F401

    assert callable(be.partition.fold_codes)


def test_names_that_were_removed_say_what_does_their_work():
    with pytest.raises(AttributeError, match=r"extend_tally was removed; be\.tally counts all"):
        be.extend_tally  # noqa: B018
