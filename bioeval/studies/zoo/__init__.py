"""Who fails: goats, lambs and wolves, and the animals of the menagerie."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"zoo": ("zoo",)},
    commands=(
        Subcommand(
            "zoo", "Evaluate each subject; test for goats, wolves and lambs.", "Look into", 2
        ),
    ),
    examples="""
# Evaluate each subject
bioeval zoo scores.npz
# Use the threshold of a FAR; write results and plots
bioeval zoo scores.npz --threshold far=0.001 --out zoo --plots
# Use a threshold for embeddings; print JSON
bioeval zoo faces.npz --embeddings dlib128 --labels subject --threshold 0.6 --json
""",
    not_options={
        "zoo": {"--far": "--threshold far=X, such as --threshold far=0.001, chooses by a FAR"}
    },
    hooks={"report_results": "command.ReportedZoo"},
    plots=(
        Plot(
            "zoo",
            "ZooDisplay",
            "plots",
            "be.zoo",
            (along("subject", "genuine_mean", "impostor_mean", "animal_of_subject"),),
            {"zoo": {}},
            one_system=True,
        ),
    ),
    nodes={"animal_of_subject": "zoo"},
    views=(View(("zoo",), "section"),),
    messages="messages.MESSAGES",
)
