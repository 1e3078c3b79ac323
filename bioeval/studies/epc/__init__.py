"""Expected performance: errors on one set at thresholds of another."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"epc": ("epc", "epsc")},
    commands=(
        Subcommand("epc", "Evaluate errors on one set at thresholds of another.", "Decide", 3),
        Subcommand(
            "epsc",
            "Evaluate errors and accepted attacks at thresholds of another set.",
            "Attacks",
            2,
        ),
    ),
    examples="""
# Evaluate one system
bioeval epc --dev dev.npz --test test.npz
# Choose the weights of FAR; print JSON
bioeval epc --dev dev.npz --test test.npz --alphas 0.1,0.5,0.9 --json
# Write results and plots
bioeval epc --dev dev.npz --test test.npz --out epc --plots
# Evaluate two systems
bioeval epc --dev a-dev.npz --test a-test.npz --dev b-dev.npz --test b-test.npz

# Evaluate errors and accepted attacks, by the weight of attacks
bioeval epsc --dev dev.npz --test test.npz
# Minimise the weighted error at three weights
bioeval epsc --dev dev.npz --test test.npz --omegas 0,0.5,1 --criterion wer
# Write the results and the curve
bioeval epsc --dev dev.npz --test test.npz --out epsc --plots
# Compare two systems, each with its own two sets
bioeval epsc --dev a-dev.npz --test a-test.npz --dev b-dev.npz --test b-test.npz
""",
    plots=(
        Plot(
            "epc",
            "EpcDisplay",
            "plots",
            "be.epc",
            (along("alpha", "hter", "threshold"),),
            {"epc": {}},
        ),
        Plot(
            "epsc",
            "EpscDisplay",
            "plots",
            "be.epsc",
            (along("omega", "hter_w", "iapar_pooled"),),
            {"epsc": {}},
        ),
    ),
    nodes={"alpha": "epc", "omega": "epsc"},
    views=(
        View(("epsc",), "epsc_section", several=True),
        View(("epc",), "section", several=True),
    ),
    messages="messages.MESSAGES",
    needs=("attacks",),
)
