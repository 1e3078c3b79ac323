"""The manifest: what bioeval-lab adds."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"accepted": ("accepted_impostors",)},
    commands=(Subcommand("accepted-impostors", "Find how many accepted claims are impostors'."),),
    examples="# One claim in 100 is an impostor's\nbioeval accepted-impostors scores.npz\n",
    plots=(
        Plot(
            name="accepted_impostors",
            display="AcceptedDisplay",
            home="plots",
            result="be.accepted_impostors",
            needs=(along("threshold", "impostors_accepted"),),
            files={"accepted-impostors": {}},
        ),
    ),
    views=(View(("accepted-claims",), "accepted"),),
)
