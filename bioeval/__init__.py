"""bioeval: what the scores of a recognition system really mean.

    import bioeval as be

    scores = be.load("scores.npz")  # or be.Scores(distances, labels)
    results = be.evaluate(scores)  # every task of a protocol
    be.show(results)
    be.report(results, "report.html")

help(be.evaluate) explains a call with its arguments and an example; be.datasets has real faces,
be.plot the plots, be.partition folds and galleries, be.stats intervals. Names are loaded when they
are first used.

Scores, tasks and results
    Measure              A number of scores, such as Cllr, that systems are compared by
    PairScores           Fixed trials: one score per pair; see Scores.from_pairs
    Protocol             A protocol card, with the defaults filled in
    Scores               A matrix of scores with the labels of its rows (probes) and columns
                         (gallery)
    TopKScores           For each query the indices of its K nearest gallery entries
    at                   Return the rates at a threshold
    claim_scores         Return the score of each claim, as the system in use decides it
    closed_set           Evaluate closed-set identification
    evaluate             Evaluate every task of a protocol, in one pass over the scores
    load                 Read scores, or embeddings, with their labels
    messages             Return the messages of a result, each once
    open_set             Evaluate open-set identification
    parse_names          Read identities and cameras from the names of images
    ranks                Return the ranks, mates and nearest candidates of each probe
    save                 Write scores, or a selection of them, with their labels and metadata
    scalar               Add a measure to all results of verification, until Python ends
    show                 Show a result as its command prints it
    simulate             Simulate the scores of a population whose true rates are known
    simulate_embeddings  Simulate the embeddings of a population
    to_frame             Return a table of a result as a data frame with exact values
    to_latex             Return the table of a result as LaTeX
    to_markdown          Return the table of a result as Markdown
    verification         Evaluate verification: is the probe of the subject that it claims?

Start
    check_data  Check data before any evaluation
    report      Write results as one self-contained HTML page

Decide
    study_threshold  Find a threshold for deployment
    judge_threshold  Choose a threshold on a development set, and judge it on an evaluation set
    compare          Compare systems that scored the same templates of the same people
    leaderboard      Rank the systems of a folder, a file for each
    epc              Evaluate expected performance
    epsc             Evaluate expected performance and spoofability
    calibration      Evaluate scores as log-likelihood ratios: Cllr, and decision costs by prior
    Calibrator       Calibrated scores
    Fusion           Fused scores of several systems
    fuse             Fuse the scores of several systems over the same templates
    normalise        Normalise scores by mean and standard deviation of scores against a cohort
    read_cohort      Read the scores of the templates of trials against a cohort of other people
    check_claim      Say whether data show, refute or leave open that a rate is at most a number
    cross_evaluate   Choose a threshold on the training part of each fold and judge it on the
                     test part
    repeat           Evaluate with each partition of a splitter
    eer_scorer       A scorer of estimators by their transformed samples; see make_scorer
    make_scorer      Return a scorer scorer(estimator, X, y) for cross_val_score and
                     GridSearchCV
    summaries        Return the scalars of every task of a protocol
    summary          Return the scalars of every task of a protocol, as plain numbers by name
    Meter            The numbers of a protocol, from embeddings that come batch by batch
    PairMeter        The rates of verification, from scores of pairs that come batch by batch

Look into
    explain            Explain one row
    step_by_step       Explain every row of a small matrix
    zoo                Evaluate verification by subject
    by_group           Evaluate verification by demographic group
    compare_groups     Compare how alike two systems treat groups of the same people
    error_discard      Evaluate a quality measure
    gallery_size       Evaluate identification against the number of subjects in the gallery
    gallery_templates  Evaluate all tasks against the number of templates that each subject has
                       in the gallery
    conventions        Evaluate scores by every convention that they support
    by_view            Evaluate closed-set identification by pairs of views, as for gait
    exam               Make an exam: questions to be solved by hand, with solutions
    worst_pairs        Return the nearest impostor pairs and the farthest genuine pairs

Attacks
    morphing       Evaluate morphing attacks
    pad            Evaluate presentation attack detection: APCER by species against BPCER
    vulnerability  Evaluate how often presentation attacks are accepted

Plan
    plan_run     Estimate the comparisons, memory and processor time of an evaluation
    sample_size  Return how many subjects, templates and sessions a test of verification needs
    workload     Return the false alarms and the rejected people that a system in use will have

Re-identification and tracking
    apply_convention  Leave out of the scores what a convention removes, for every other task
    gom               Evaluate open-world re-identification by GOM
    reid              Evaluate re-identification under a convention: CMC, mAP and mINP
    check_tracks      Check tracks against their ground truth
    tracking          Evaluate tracking
    compare_trackers  Compare trackers on the same sequences
    top_k             Evaluate top-K lists: CMC and rank-K mean average precision

Sites
    Tally  Counts of every task of a protocol, made in one pass
    tally  Count all tasks of a protocol in one pass, as counts that merge

Short names
    check (check_data), groups (by_group), plan (plan_run), threshold (study_threshold)

Errors and warnings
    BioevalError, BioevalWarning, CardError, CheckpointError, DataError, EngineError,
    FrozenError, MergeError, ProtocolError
"""

from bioeval.base.lazy import (
    NamesByModule,
    StudyNames,
    lazy_names,
    modules_of,
    without_names_in_help,
)
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
        "ProtocolError",
    ),
    "bioeval.base.version": ("__version__",),
    "bioeval.evaluation.all_tasks": ("evaluate",),
    "bioeval.evaluation.identification": ("closed_set", "open_set", "ranks"),
    "bioeval.evaluation.claim_scores": ("claim_scores",),
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
    from bioeval.base.studies import manifests

    modules, aliases = {}, {}
    for study in manifests().values():
        modules |= modules_of(study.calls)
        aliases |= study.other_names
    return StudyNames(modules, aliases)


_value_of, __dir__ = lazy_names(
    __name__,
    _NAMES,
    of_studies=_of_studies,
    unlisted=_NAMES["bioeval.base.errors"],  # seldom typed, and long when listed
)
__getattr__ = without_names_in_help(_value_of)
