"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names below and those that studies offer are loaded when they are
first used, so that importing the package costs nothing.
"""

from bioeval.base.lazy import NamesByModule, StudyNames, lazy_names, modules_of
from bioeval.base.version import __version__ as __version__

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval": ("datasets", "partition", "plot", "stats"),
    "bioeval.base.errors": (
        "BioevalError",
        "BioevalWarning",
        "CardError",
        "CheckpointError",
        "DataError",
        "EngineError",
        "FrozenError",
        "MergeError",
        "PluginError",
        "PluginWarning",
        "ProtocolError",
    ),
    "bioeval.base.version": ("__version__",),
    "bioeval.evaluation.all_tasks": ("evaluate",),
    "bioeval.evaluation.identification": ("closed_set", "open_set", "ranks"),
    "bioeval.evaluation.rates_at": ("at",),
    "bioeval.evaluation.verification_task": ("verification",),
    "bioeval.protocol": ("Protocol",),
    "bioeval.results.measure": ("Measure",),
    "bioeval.results.scalar": ("scalar",),
    "bioeval.scores.formats": ("load", "save"),
    "bioeval.scores.image_names": ("parse_names",),
    "bioeval.scores.matrix": ("Scores",),
    "bioeval.scores.pairs": ("PairScores",),
    "bioeval.scores.simulation.scores_of_people": ("simulate", "simulate_embeddings"),
    "bioeval.scores.top_k": ("TopKScores",),
    "bioeval.views.frames": ("to_frame",),
    "bioeval.views.messages": ("messages",),
    "bioeval.views.show": ("show", "to_latex", "to_markdown"),
}


def _of_studies() -> StudyNames:
    from bioeval.base.studies import clashes_of, manifests

    modules, aliases = {}, {}
    for study in manifests().values():
        modules |= modules_of(study.calls)
        aliases |= study.other_names
    return StudyNames(modules, aliases, clashes_of("be"))


__getattr__, __dir__ = lazy_names(__name__, _NAMES, of_studies=_of_studies)
