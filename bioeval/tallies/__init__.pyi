"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.tallies.by_subject import (
    MergingSinks as MergingSinks,
    PairCounts as PairCounts,
    PartBySubject as PartBySubject,
    SubjectAttempts as SubjectAttempts,
    count_parts as count_parts,
    summed as summed,
)
from bioeval.tallies.cells import is_accepted as is_accepted, rounded_down as rounded_down
from bioeval.tallies.count_files import (
    kind_of_counts as kind_of_counts,
    read_counts as read_counts,
    write_counts as write_counts,
)
from bioeval.tallies.counters import (
    ImpostorBlock as ImpostorBlock,
    ThresholdCounter as ThresholdCounter,
    gather as gather,
    grid_over_attempts as grid_over_attempts,
)
from bioeval.tallies.counting import Counter as Counter, RawRowCounter as RawRowCounter
from bioeval.tallies.counts import (
    IdentificationTally as IdentificationTally,
    ImpostorProbes as ImpostorProbes,
    KeptScores as KeptScores,
    VerificationTally as VerificationTally,
    require_alike as require_alike,
    role_of as role_of,
)
from bioeval.tallies.exact_sums import ExactSums as ExactSums
from bioeval.tallies.fold_counts import Subset as Subset
from bioeval.tallies.fold_passes import FoldPasses as FoldPasses
from bioeval.tallies.identification_counter import (
    IdentificationCounter as IdentificationCounter,
    RankUnit as RankUnit,
    check_max_rank as check_max_rank,
)
from bioeval.tallies.judged import (
    GroupTally as GroupTally,
    Judged as Judged,
    TrainingThresholds as TrainingThresholds,
)
from bioeval.tallies.kept_points import at_most_kept as at_most_kept
from bioeval.tallies.left_out import LeftOut as LeftOut
from bioeval.tallies.listed_attempts import UNIT as UNIT, chances_of_nearest as chances_of_nearest
from bioeval.tallies.listed_claims import (
    DRAWS as DRAWS,
    MOST_CHOICES as MOST_CHOICES,
    ListedClaims as ListedClaims,
    Use as Use,
    list_claims as list_claims,
    parse_use as parse_use,
    require_use_of_searches as require_use_of_searches,
    scores_in_use as scores_in_use,
)
from bioeval.tallies.listed_searches import (
    ListedSearches as ListedSearches,
    list_searches as list_searches,
    require_searches_to_list as require_searches_to_list,
)
from bioeval.tallies.parts import (
    ConcatenatedRows as ConcatenatedRows,
    Counts as Counts,
    Extent as Extent,
    merged as merged,
)
from bioeval.tallies.passes import (
    count_together as count_together,
    count_with_points as count_with_points,
)
from bioeval.tallies.point_search import PointFinder as PointFinder
from bioeval.tallies.points import (
    FAR_TARGETS as FAR_TARGETS,
    EqualError as EqualError,
    ErrorCurve as ErrorCurve,
    VerificationPoints as VerificationPoints,
    check_costs as check_costs,
    check_priors as check_priors,
    check_targets as check_targets,
    normalised_cost as normalised_cost,
    per_cent as per_cent,
    trivial_cost as trivial_cost,
)
from bioeval.tallies.row_passes import RowPass as RowPass, counts_of as counts_of
from bioeval.tallies.second_pass import PointsWanted as PointsWanted, SecondPass as SecondPass
from bioeval.tallies.selections import (
    IdentificationRules as IdentificationRules,
    OrderedScores as OrderedScores,
    SelectionAttempts as SelectionAttempts,
    SelectionCounts as SelectionCounts,
)
from bioeval.tallies.symmetry import is_symmetric as is_symmetric
from bioeval.tallies.threshold_rules import (
    ChosenThreshold as ChosenThreshold,
    Rule as Rule,
    choose as choose,
    wanted_bins as wanted_bins,
)
from bioeval.tallies.threshold_search import Attempts as Attempts
from bioeval.tallies.thresholds import (
    check_thresholds as check_thresholds,
    linear_grid as linear_grid,
    require_values as require_values,
    to_internal as to_internal,
    to_user as to_user,
)
from bioeval.tallies.tied_places import (
    PlainTies as PlainTies,
    Ties as Ties,
    place_weights as place_weights,
)
from bioeval.tallies.tile_reading import TileReading as TileReading
from bioeval.tallies.tiled_scores import (
    HELD as HELD,
    ComputedTiles as ComputedTiles,
    may_compute as may_compute,
    source_of_tiles as source_of_tiles,
)
from bioeval.tallies.verification_counter import (
    Claim as Claim,
    Templates as Templates,
    VerificationCounter as VerificationCounter,
)
