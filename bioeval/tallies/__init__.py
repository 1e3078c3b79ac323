"""Integer counts that merge, the passes that fill them, and operating points from counts."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.tallies.by_subject": (
        "MergingSinks",
        "PairCounts",
        "PartBySubject",
        "SubjectAttempts",
        "count_parts",
        "summed",
    ),
    "bioeval.tallies.cells": (
        "is_accepted",
        "rounded_down",
    ),
    "bioeval.tallies.counters": (
        "ImpostorBlock",
        "ThresholdCounter",
        "gather",
        "grid_over_attempts",
    ),
    "bioeval.tallies.counting": ("Counter",),
    "bioeval.tallies.counts": (
        "IdentificationTally",
        "ImpostorProbes",
        "KeptScores",
        "VerificationTally",
        "role_of",
    ),
    "bioeval.tallies.exact_sums": ("ExactSums",),
    "bioeval.tallies.fold_counts": ("Subset",),
    "bioeval.tallies.fold_passes": ("FoldPasses",),
    "bioeval.tallies.identification_counter": (
        "IdentificationCounter",
        "RankUnit",
        "check_max_rank",
    ),
    "bioeval.tallies.judged": (
        "GroupTally",
        "Judged",
        "TrainingThresholds",
    ),
    "bioeval.tallies.left_out": ("LeftOut",),
    "bioeval.tallies.parts": (
        "ConcatenatedRows",
        "Counts",
        "Extent",
        "merged",
    ),
    "bioeval.tallies.passes": (
        "count_together",
        "count_with_points",
    ),
    "bioeval.tallies.point_search": ("PointFinder",),
    "bioeval.tallies.points": (
        "FAR_TARGETS",
        "EqualError",
        "ErrorCurve",
        "VerificationPoints",
        "check_costs",
        "check_priors",
        "check_targets",
        "normalised_cost",
        "per_cent",
        "trivial_cost",
    ),
    "bioeval.tallies.second_pass": (
        "PointsWanted",
        "SecondPass",
    ),
    "bioeval.tallies.selections": (
        "IdentificationRules",
        "OrderedScores",
        "SelectionAttempts",
        "SelectionCounts",
    ),
    "bioeval.tallies.single_template": ("thresholds_over",),
    "bioeval.tallies.symmetry": ("is_symmetric",),
    "bioeval.tallies.threshold_rules": (
        "ChosenThreshold",
        "Rule",
        "choose",
        "wanted_bins",
    ),
    "bioeval.tallies.threshold_search": ("Attempts",),
    "bioeval.tallies.thresholds": (
        "check_thresholds",
        "linear_grid",
        "require_values",
        "to_internal",
        "to_user",
    ),
    "bioeval.tallies.tied_places": (
        "PlainTies",
        "Ties",
        "place_weights",
    ),
    "bioeval.tallies.tile_reading": ("TileReading",),
    "bioeval.tallies.tiled_scores": (
        "HELD",
        "ComputedTiles",
        "may_compute",
        "source_of_tiles",
    ),
    "bioeval.tallies.verification_counter": (
        "Claim",
        "Templates",
        "VerificationCounter",
    ),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
