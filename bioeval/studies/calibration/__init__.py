"""Log-likelihood ratios: Cllr, costs by prior, and calibrators."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    scalars="scalars.CALIBRATION_POINTS",
    measures="measures.MEASURES",
    calls={"calibration": ("calibration",), "calibrator": ("Calibrator",)},
    commands=(
        Subcommand(
            "calibration", "Evaluate log-likelihood ratios: Cllr, costs by prior.", "Decide", 4
        ),
    ),
    examples="""
# Evaluate log-likelihood ratios
bioeval calibration ratios.npz --kind llr
# Calibrate scores on other data
bioeval calibration scores.npz --calibrate logistic --train others.npz
# Learn on development trials, evaluate and write evaluation trials
bioeval calibration dev.scores dev.txt --kind similarity --apply eval.scores eval.txt \
--save eval-llr.txt
# Calibrate monotonically, at two priors; print JSON
bioeval calibration scores.npz --calibrate pav --train others.npz --priors 0.5,0.01 --json
# Write results and plots
bioeval calibration scores.npz --calibrate logistic --train others.npz --out cal --plots
""",
    plots=(
        Plot(
            "reliability",
            "ReliabilityDisplay",
            "plots",
            "be.calibration",
            ({"cllr": (), "pav_llr": ("pav_block",)},),
            {"reliability": {}},
        ),
        Plot(
            "tippett",
            "TippettDisplay",
            "plots",
            "be.calibration",
            (along("llr", "genuine_above", "impostor_above"),),
            {"tippett": {}},
        ),
        Plot(
            "empirical_cross_entropy",
            "EmpiricalCrossEntropyDisplay",
            "plots",
            "be.calibration",
            (along("prior_log_odds", "min_ece"),),
            {"empirical-cross-entropy": {}},
        ),
        Plot(
            "bayes_error",
            "BayesErrorDisplay",
            "plots",
            "be.calibration",
            (along("prior_log_odds", "min_bayes_error"),),
            {"bayes-error": {}},
        ),
    ),
    views=(View(("calibration",), "section", several=True, named_by="system"),),
    messages="messages.MESSAGES",
)
