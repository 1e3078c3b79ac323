"""bioeval: what the scores of a recognition system really mean.

    import bioeval as be

    scores = be.load("scores.npz")  # or be.Scores(distances, labels)
    results = be.evaluate(scores)  # every task of a protocol
    be.show(results)
    be.report(results, "report.html")

``help(be.evaluate)`` explains a call with its arguments and an example. ``docs/api.md`` lists all
calls: ``be.datasets`` has real faces, ``be.plot`` the plots, ``be.partition`` folds and galleries,
``be.stats`` intervals. Each name is loaded when it is first used; ``__init__.pyi`` says from where.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
