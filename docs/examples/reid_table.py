"""A table for a re-identification paper: two systems, one convention, ten random splits.

Run it in an empty folder; it writes table.tex, splits.tex and cmc.png there.
"""

from pathlib import Path

import numpy as np

import bioeval as be

# Simulated images of 60 people, two in each of four cameras; in your work, distances and labels
# of files.
images = be.simulate_embeddings(60, 8, dimensions=16, cameras=4, random_state=7)
rng = np.random.default_rng(7)
noise = rng.normal(scale=0.5, size=images.embeddings.shape)
cameras, who = images.meta["camera"], images.labels
query = np.arange(len(who)) % 8 < 4  # the first image of each person in each camera
systems = {
    name: be.Scores.from_embeddings(
        x[query], who[query], x[~query], who[~query], name=name,
        probe_meta={"camera": cameras[query]}, gallery_meta={"camera": cameras[~query]},
    )
    for name, x in (("ours", images.embeddings), ("baseline", images.embeddings + noise))
}  # fmt: skip

# Every query once, by the convention of Market-1501.
results = {name: be.reid(scores, "market1501") for name, scores in systems.items()}
measures = ["mean_ap", "cmc=1", "mean_inp", "mrr"]
Path("table.tex").write_text(be.to_latex(results, measures=measures))
print(be.to_markdown(results, measures=measures))

# Is the better one better by more than luck? Paired, by resampled people.
be.show(be.compare(*systems.values(), protocol="market1501"))

# Ten random halves of the people: mean and standard deviation.
halves = be.partition.SubjectShuffleSplit(10, test_size=0.5, random_state=0)
splits = {name: be.repeat(scores, halves, "market1501") for name, scores in systems.items()}
Path("splits.tex").write_text(be.to_latex(splits, measures=["mean_ap", "mean_inp"]))
be.plot.save(be.plot.cmc(results), "cmc.png")
