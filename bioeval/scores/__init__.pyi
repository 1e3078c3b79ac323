"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.scores.arrays import (
    FusionRule as FusionRule,
    Mask as Mask,
    lattice_step as lattice_step,
)
from bioeval.scores.blocks import (
    Block as Block,
    BlockReader as BlockReader,
    Progress as Progress,
    require_subjects as require_subjects,
    threads_for as threads_for,
)
from bioeval.scores.bona_fide import (
    leaves_out_attacks as leaves_out_attacks,
    species_of as species_of,
    without_attacks as without_attacks,
)
from bioeval.scores.disjoint import mates_among as mates_among
from bioeval.scores.embedding_tiles import LARGEST as LARGEST, TemplateTiles as TemplateTiles
from bioeval.scores.embeddings import (
    EmbeddingSource as EmbeddingSource,
    FloatType as FloatType,
    Metric as Metric,
    as_embeddings as as_embeddings,
    kind_of_metric as kind_of_metric,
)
from bioeval.scores.enrolled import Enrol as Enrol, Enrolment as Enrolment
from bioeval.scores.formats.cells import Cells as Cells
from bioeval.scores.formats.cohorts import is_text as is_text, read_cohort_list as read_cohort_list
from bioeval.scores.formats.files import (
    existing_file as existing_file,
    guarded as guarded,
    read_text as read_text,
    replacing as replacing,
)
from bioeval.scores.formats.format import Format as Format, ReadOptions as ReadOptions
from bioeval.scores.formats.label_files import (
    matrix_advice as matrix_advice,
    read_side as read_side,
)
from bioeval.scores.formats.registry import read_suffixes as read_suffixes
from bioeval.scores.formats.trials import lists_trials as lists_trials
from bioeval.scores.labelled_matrix import NanPolicy as NanPolicy
from bioeval.scores.labels import (
    NAME_COLUMNS as NAME_COLUMNS,
    Codes as Codes,
    as_labels as as_labels,
    as_meta as as_meta,
    missing_values as missing_values,
    plain as plain,
    template_names as template_names,
)
from bioeval.scores.matrix import (
    are_pairs as are_pairs,
    codes_of as codes_of,
    knows_people as knows_people,
    require_scores as require_scores,
)
from bioeval.scores.provenance import Provenance as Provenance, exclusions_of as exclusions_of
from bioeval.scores.shared_people import people_of_both_sets as people_of_both_sets
from bioeval.scores.template_values import template_columns as template_columns
from bioeval.scores.transactions import transactions_of as transactions_of
