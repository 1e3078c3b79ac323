"""Presentation attacks: vulnerability and detection."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

_OVER_SPECIES = {
    "iapar_of_species": ("threshold", "species"),
    "far": ("threshold",),
    "frr": ("threshold",),
}

STUDY = StudyManifest(
    calls={"pad": ("pad",), "vulnerability": ("vulnerability",)},
    commands=(
        Subcommand(
            "vulnerability", "Evaluate how often presentation attacks are accepted.", "Attacks", 1
        ),
        Subcommand("pad", "Evaluate presentation attack detection: APCER, BPCER.", "Attacks", 3),
    ),
    examples="""
# Evaluate rows that are marked as attacks
bioeval vulnerability attacked.npz
# Evaluate a second file of attacks
bioeval vulnerability scores.npz attacks.npz --threshold far=0.001
# Write results and plots
bioeval vulnerability attacked.npz --out attacked --plots
# Write a page
bioeval vulnerability attacked.npz --report attacked.html

# Evaluate a list of detection scores
bioeval pad pad.csv
# Choose the threshold on development data
bioeval pad test.csv --dev dev.csv --threshold apcer=0.05
# Use the threshold of equal errors, with intervals
bioeval pad pad.csv --threshold d-eer --interval subject-bootstrap
# Take APCER over the species up to an attack potential
bioeval pad pad.csv --potential print=1,mask=3 --most 1
# Use one threshold; print JSON
bioeval pad pad.csv --threshold 0.5 --json
# Write results and plots
bioeval pad test.csv --dev dev.csv --threshold apcer=0.05 --out pad --plots
""",
    plots=(
        Plot(
            "attack_det",
            "AttackDetDisplay",
            "plots",
            "be.vulnerability",
            (_OVER_SPECIES,),
            {"attack-det": {}},
            one_system=True,
        ),
        Plot(
            "iapar",
            "IaparDisplay",
            "plots",
            "be.vulnerability",
            (_OVER_SPECIES,),
            {"iapar": {}},
            one_system=True,
        ),
        Plot(
            "attack_scores",
            "AttackScoresDisplay",
            "plots",
            "be.vulnerability",
            (along("threshold", "ga", "fa", "ia"),),
            {"attack-scores": {}},
            one_system=True,
        ),
        Plot(
            "pad_det",
            "PadDetDisplay",
            "plots",
            "be.pad",
            (along("threshold", "apcer", "bpcer"),),
            {"pad-det": {}},
        ),
        Plot(
            "apcer",
            "ApcerDisplay",
            "plots",
            "be.pad",
            ({"apcer_of_species": ("threshold", "species"), "bpcer": ("threshold",)},),
            {"apcer": {}},
            one_system=True,
        ),
    ),
    nodes={"iapar_pooled": "vulnerability", "apcer_pooled": "pad"},
    views=(
        View(("presentation-attacks",), "pad_section"),
        View(("vulnerability",), "vulnerability_section"),
    ),
    messages="messages.MESSAGES",
)
