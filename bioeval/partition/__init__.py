"""Splitters: training and test, gallery and probes, enrolled and unenrolled subjects.

A partition is index arrays, never a copied matrix: one matrix of scores serves them all.
The splitters have scikit-learn's form, ``split(X, y, groups)``, and work inside its
``cross_val_score`` and ``GridSearchCV``; ``y`` (or ``groups``, which overrides it) names the
subject of each sample. The same seed gives the same partition on every platform and with every
version of NumPy.

``docs/partitions.md`` says which to use; ``__init__.pyi`` lists them.
"""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
