"""Faces for a course: two systems, every protocol of the lecture, and what fools them.

Run it in an empty folder; it writes course.html and worst-pairs.png there.
"""

import bioeval as be

systems = {name: be.datasets.faces(name, people="unseen") for name in ("eigenfaces", "deep")}

# What is each rate, and how uncertain is it?
for name, scores in systems.items():
    ds = be.verification(scores, interval="people")
    low, high = ds.eer_low.item(), ds.eer_high.item()
    print(f"{name}: EER {ds.eer.item():.2%}, 95 % interval {low:.2%} to {high:.2%}")

# Verification, open-set and closed-set identification, as the lecture's card has them.
trees = {name: be.evaluate(scores, "course-all-vs-all") for name, scores in systems.items()}
be.show(trees["eigenfaces"])

# Is the difference real, or luck with these people?
be.show(be.compare(*systems.values()))

# Which pairs fool the old system? Look at them.
worst = be.worst_pairs(systems["eigenfaces"], 5)
print(worst.to_dataframe()[["score", "probe_label", "gallery_label"]].head())
be.plot.save(be.plot.worst_pairs(worst), "worst-pairs.png")

# One page to hand in.
be.report(trees, "course.html")
