"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Among its ``**style``, each also takes ``figsize=`` (the
width and the height of a new figure, in inches) and ``title=``: None leaves out the title and the
lines below it, and a text replaces the title. ``be.plot.style("slide")`` makes figures for slides,
``be.plot.style("paper")`` for a column of a journal. Matplotlib is loaded with the first one used.
help(be.plot.roc) explains a plot with its arguments and an example.

Scores, verification and identification
    cmc                  Draw the CMC: the proportion of probes with a mate at rank k or better
    det                  Draw the DET
    dir_far              Draw DIR against FAR at several ranks
    error_rates          Draw FAR and FRR against the threshold
    matrix               Draw the matrix of scores, probes and gallery sorted by subject
    roc                  Draw the ROC: GAR against FAR over all thresholds
    save                 Write a plot to a PNG, PDF or SVG file, by the suffix of the path
    save_all             Write every plot that a result supports to a folder
    score_distributions  Draw how genuine and impostor scores are distributed
    style                Choose the sizes of the plots that are drawn from now on

Decide
    threshold_study          Draw the error rates to expect of a threshold with new people
    assured                  Draw what an assured threshold costs
    ranking                  Draw the systems of a ranking, from the best to the worst
    epc                      Draw the expected performance curve
    reliability              Draw the reliability of log-likelihood ratios
    tippett                  Draw the Tippett plot
    empirical_cross_entropy  Draw the empirical cross-entropy over priors
    bayes_error              Draw the normalised Bayes error rate over priors
    repeated                 Draw the mean curve over many partitions, with its band
    folds                    Draw FAR and FRR of each fold, their mean
    spread                   Draw how each scalar varies over folds or repeats

Look into
    row_walk           Draw one row
    zoo                Draw each subject by its mean genuine and mean impostor score
    groups             Draw rates by group
    error_discard      Draw error against discard
    gallery_size       Draw CMS against the number of subjects in the gallery
    worst_pairs        Draw the images of the nearest impostor pairs and of the farthest genuine
                       pairs

Attacks
    attack_det        Draw the DET of zero-effort impostors
    iapar             Draw IAPAR of each attack instrument species
    attack_scores     Draw how genuine, zero-effort impostor and attack scores are distributed
    pad_det           Draw the DET of presentation attack detection
    apcer             Draw APCER of each attack instrument species, and BPCER

Re-identification and tracking
    ranked_lists      Draw the ranked lists of a few queries, with what each threshold retrieves
    gom               Draw mReP and mFR against the threshold: the figure of GOM
    precision_recall  Draw interpolated precision against recall, the mean over the queries
    timeline          Draw the track segments of each target, coloured by identity
    hota              Draw HOTA
"""

from bioeval.base.lazy import NamesByModule, StudyNames, lazy_names, without_names_in_help

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.plot.of_scores": ("matrix", "save_all", "score_distributions"),
    "bioeval.views.plots.files": ("save",),
    "bioeval.views.plots.ranks": ("CmcDisplay", "cmc"),
    "bioeval.views.plots.rates": (
        "DetDisplay",
        "DirFarDisplay",
        "ErrorRatesDisplay",
        "RocDisplay",
        "det",
        "dir_far",
        "error_rates",
        "roc",
    ),
    "bioeval.views.plots.score_plots": ("MatrixDisplay", "ScoreDistributionsDisplay"),
    "bioeval.views.plots.style": ("style",),
}


def _of_studies() -> StudyNames:
    from bioeval.base.studies import manifests

    modules = {}
    for study in manifests().values():
        for plot in study.plots:
            modules |= {plot.name: plot.home, plot.display: plot.home}
    return StudyNames(modules)


_value_of, __dir__ = lazy_names(__name__, _NAMES, of_studies=_of_studies)
__getattr__ = without_names_in_help(_value_of)
