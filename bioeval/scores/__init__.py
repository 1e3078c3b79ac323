"""Comparisons and their data: scores, labels, embeddings, blocks of rows, and their files."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.scores.arrays": (
        "FusionRule",
        "Mask",
        "lattice_step",
    ),
    "bioeval.scores.blocks": (
        "Block",
        "BlockReader",
        "require_subjects",
        "require_templates",
        "threads_for",
    ),
    "bioeval.scores.bona_fide": (
        "leaves_out_attacks",
        "species_of",
        "without_attacks",
    ),
    "bioeval.scores.disjoint": ("mates_among",),
    "bioeval.scores.embedding_tiles": (
        "LARGEST",
        "TemplateTiles",
    ),
    "bioeval.scores.embeddings": (
        "EmbeddingSource",
        "FloatType",
        "Metric",
        "as_embeddings",
        "kind_of_metric",
    ),
    "bioeval.scores.formats.cells": ("Cells",),
    "bioeval.scores.formats.cohorts": (
        "is_text",
        "read_cohort_list",
    ),
    "bioeval.scores.formats.files": (
        "existing_file",
        "guarded",
        "read_text",
        "replacing",
    ),
    "bioeval.scores.formats.format": ("ReadOptions",),
    "bioeval.scores.formats.trials": ("lists_trials",),
    "bioeval.scores.labels": (
        "NAME_COLUMNS",
        "Codes",
        "as_labels",
        "as_meta",
        "missing_values",
        "plain",
        "template_names",
    ),
    "bioeval.scores.labelled_matrix": ("NanPolicy",),
    "bioeval.scores.matrix": (
        "are_pairs",
        "codes_of",
        "knows_people",
        "require_scores",
    ),
    "bioeval.scores.provenance": ("Provenance", "exclusions_of"),
    "bioeval.scores.shared_people": ("people_of_both_sets",),
    "bioeval.scores.template_values": ("template_columns",),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
