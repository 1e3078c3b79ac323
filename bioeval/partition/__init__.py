"""Splitters: training and test, gallery and probes, enrolled and unenrolled subjects.

A partition is index arrays, never a copied matrix: one matrix of scores serves them all.
The splitters have scikit-learn's form, ``split(X, y, groups)``, and work inside its
``cross_val_score`` and ``GridSearchCV``; ``y`` (or ``groups``, which overrides it) names the
subject of each sample. The same seed gives the same partition on every platform and with every
version of NumPy.

``docs/cross-evaluation.md`` says which to use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
