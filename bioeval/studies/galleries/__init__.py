"""Galleries of other sizes."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"gallery_size": ("gallery_size",)},
    commands=(
        Subcommand(
            "gallery-size",
            "Evaluate identification by number of enrolled subjects.",
            "Look into",
            6,
        ),
    ),
    examples="""
# Evaluate at sizes up to that of the gallery
bioeval gallery-size scores.npz
# Choose sizes and ranks
bioeval gallery-size scores.npz --sizes 10,20,40 --max-rank 10
# Evaluate embeddings
bioeval gallery-size faces.npz --embeddings dlib128 --labels subject
# Write results and plots
bioeval gallery-size scores.npz --out sizes --plots
""",
    plots=(
        Plot(
            "gallery_size",
            "GallerySizeDisplay",
            "plots",
            "be.gallery_size",
            ({"cms": ("gallery_size", "rank")},),
            {"gallery-size": {}},
        ),
    ),
    nodes={"gallery_size": "gallery_size"},
    views=(View(("gallery-size",), "size_section"),),
    messages="messages.MESSAGES",
)
