"""bioeval: how good a biometric system is, and how certain the answer is.

    import bioeval as be

    scores = be.load("scores.npz")  # or be.Scores(distances, labels)
    results = be.evaluate(scores)  # every task
    be.show(results)
    be.report(results, "report.html")

Begin with
    Scores verification closed_set open_set repeat evaluate
Data and examples
    load save parse_names datasets simulate simulate_embeddings check_data claim_scores
Results
    show plot report summary to_frame to_latex to_markdown messages aggregate
Uncertainty and new people
    stats partition cross_evaluate judge_threshold
Thresholds
    study_threshold check_promise with_failures
Systems
    compare fuse
People and causes
    explain ranks worst_pairs zoo by_group gallery_size
Outside the core
    Protocol conventions reid gom gom_from_curves tracking
    make_scorer eer_scorer scalar Measure
Settings and errors
    set_options BioevalError BioevalWarning DataError ProtocolError CardError

``help(be.evaluate)`` explains a call with its arguments and an example; ``docs/api.md`` has a line
for each. A name is loaded when it is first used, from the module that ``__init__.pyi`` says.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
