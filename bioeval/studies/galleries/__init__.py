"""Galleries of other sizes, and with fewer templates of each subject."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"gallery_size": ("gallery_size",), "gallery_templates": ("gallery_templates",)},
    commands=(
        Subcommand(
            "gallery-size",
            "Evaluate identification by number of enrolled subjects.",
            "Look into",
            6,
        ),
        Subcommand(
            "gallery-templates",
            "Evaluate all tasks by number of templates per subject.",
            "Look into",
            7,
        ),
    ),
    examples="""
# Evaluate at sizes up to that of the gallery
bioeval gallery-size scores.npz
# Choose sizes and ranks
bioeval gallery-size scores.npz --sizes 10,100,1000 --max-rank 10
# Evaluate embeddings
bioeval gallery-size faces.npz --embeddings dlib128 --labels subject
# Write results and plots
bioeval gallery-size scores.npz --out sizes --plots

# Evaluate at every number of templates
bioeval gallery-templates scores.npz
# Choose the numbers of templates
bioeval gallery-templates scores.npz --templates 1,3,6
# Fuse by the mean, at the threshold of a FAR
bioeval gallery-templates scores.npz --fusion mean --threshold far=0.001
# Evaluate embeddings; write results and plots
bioeval gallery-templates faces.npz --embeddings dlib128 --labels subject --out g --plots
""",
    plots=(
        Plot(
            "gallery_size",
            "GallerySizeDisplay",
            "plots",
            "be.gallery_size",
            ({"cms": ("gallery_size", "rank"), "extrapolated": ("gallery_size",)},),
            {"gallery-size": {}},
        ),
        Plot(
            "gallery_templates",
            "GalleryTemplatesDisplay",
            "plots",
            "be.gallery_templates",
            (along("gallery_templates", "frr_at_threshold", "far_at_threshold"),),
            {"gallery-templates": {}},
        ),
    ),
    counts={"galleries": "results"},
    galleries={"drawn": "drawing", "mean": "results"},
    saved={"GalleryTally": "saved"},
    nodes={"extrapolated": "gallery_size", "open_set_far": "gallery_templates"},
    views=(
        View(("gallery-size",), "size_section"),
        View(("gallery-templates",), "templates_section"),
    ),
    messages="messages.MESSAGES",
    needs=("folds",),
)
