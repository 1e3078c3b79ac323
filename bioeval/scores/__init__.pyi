"""What studies use of this package."""

from bioeval.scores.arrays import (
    FusionRule as FusionRule,
    Mask as Mask,
    lattice_step as lattice_step,
    parse_fusion as parse_fusion,
)
from bioeval.scores.blocks import (
    Block as Block,
    BlockReader as BlockReader,
    MatrixMemory as MatrixMemory,
    Progress as Progress,
    as_row as as_row,
    is_small as is_small,
    require_subjects as require_subjects,
    threads_for as threads_for,
)
from bioeval.scores.bona_fide import (
    attacks_of as attacks_of,
    leaves_out_attacks as leaves_out_attacks,
    species_of as species_of,
    without_attacks as without_attacks,
)
from bioeval.scores.columns import CodedSides as CodedSides
from bioeval.scores.derived_rows import derived as derived
from bioeval.scores.description import attempts as attempts
from bioeval.scores.embeddings import (
    Metric as Metric,
    as_embeddings as as_embeddings,
    kind_of_metric as kind_of_metric,
)
from bioeval.scores.enrolment_times import EnrolmentTimes as EnrolmentTimes
from bioeval.scores.failure_codes import EndValue as EndValue
from bioeval.scores.formats.archive import Archive as Archive
from bioeval.scores.formats.cells import Cells as Cells
from bioeval.scores.formats.files import (
    existing_file as existing_file,
    guarded as guarded,
    read_text as read_text,
    replacing as replacing,
)
from bioeval.scores.formats.format import Format as Format, ReadOptions as ReadOptions
from bioeval.scores.formats.label_files import (
    NAME_COLUMNS as NAME_COLUMNS,
    matrix_advice as matrix_advice,
    read_side as read_side,
)
from bioeval.scores.formats.spellings import TRUTH as TRUTH, no_species as no_species
from bioeval.scores.labels import (
    ATTACK as ATTACK,
    NOT_ENROLLED as NOT_ENROLLED,
    Codes as Codes,
    as_labels as as_labels,
    digest as digest,
    missing_values as missing_values,
    plain as plain,
)
from bioeval.scores.listed_templates import pattern_of_pairs as pattern_of_pairs
from bioeval.scores.matrix import (
    are_pairs as are_pairs,
    codes_of as codes_of,
    knows_people as knows_people,
    places_of as places_of,
    require_scores as require_scores,
)
from bioeval.scores.provenance import Provenance as Provenance, mates_among as mates_among
from bioeval.scores.template_values import template_columns as template_columns
