"""Which tracker is better? Three trackers on twenty videos, ranked with intervals over the videos.

Run it in an empty folder; it writes trackers.tex, ranking.png and trackers.html there.
"""

from pathlib import Path

import numpy as np

import bioeval as be

FRAMES, PEOPLE = 40, 3

# Boxes are rows of frame, id, left, top, width, height. In your work, give folders of files.
rng = np.random.default_rng(1)
frame = np.repeat(np.arange(1, FRAMES + 1), PEOPLE)
who = np.tile(np.arange(PEOPLE), FRAMES)
size = np.tile([40, 90], (len(who), 1))

# How often each tracker misses a box, and gives a person another identity.
trackers = {"SORT-like": (0.10, 0.02), "better association": (0.10, 0.005), "fast": (0.25, 0.02)}
truth, results = {}, {name: {} for name in trackers}
for i in range(20):
    video = f"video-{i + 1:02d}"
    step = rng.normal(0, 2, (PEOPLE, 2))  # people walk side by side
    corner = 100 * np.column_stack([who, who]) + frame[:, None] * step[who]
    truth[video] = np.column_stack([frame, who + 1, corner, size])
    harder = np.exp(0.5 * rng.normal())  # some videos are difficult for all trackers
    for name, (miss, change) in trackers.items():
        changes = np.cumsum(rng.random((FRAMES, PEOPLE)) < change * harder, axis=0).ravel()
        seen = corner + rng.normal(0, 4, corner.shape)
        rows = np.column_stack([frame, 1 + who + PEOPLE * changes, seen, size])
        results[name][video] = rows[rng.random(len(rows)) > miss * harder]

# One tracker: its measures over all videos, each with an interval.
one = be.tracking(truth, results["fast"], frames=FRAMES, interval="sequence-jackknife")
print(f"fast: HOTA {one.hota:.3f} [{one.hota_low:.3f}, {one.hota_high:.3f}]")

# All of them: ranks, and which cannot be told apart.
ranking = be.tracking(truth, results, measures=["hota", "assa", "deta"])
be.show(ranking)
Path("trackers.tex").write_text(be.to_latex(ranking))
be.plot.save(be.plot.ranking(ranking), "ranking.png")
be.report(ranking, "trackers.html")
