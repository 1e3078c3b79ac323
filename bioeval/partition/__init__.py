"""Splitters: training and test, gallery and probes, enrolled and unenrolled subjects.

A partition is index arrays, never a copied matrix: one matrix of scores serves them all.
The splitters have scikit-learn's form, ``split(X, y, groups)``, and work inside its
``cross_val_score`` and ``GridSearchCV``; ``y`` (or ``groups``, which overrides it) names the
subject of each sample. The same seed gives the same partition on every platform and with every
version of NumPy.

======================== ====================================================================
training and test        :class:`SubjectKFold`, :class:`RepeatedSubjectKFold`,
                         :class:`SampleKFold`, :class:`RepeatedSampleKFold`,
                         :class:`SubjectShuffleSplit`, :class:`SampleShuffleSplit`
and validation           :class:`TrainValidationTest`
gallery and probes       :class:`ProbeGallerySplit`, :class:`EnrolledSplit`
all of these at once     :class:`Experiment`
claims of verification   :class:`ClaimSampler`
folds as given           :class:`PredefinedFolds`, :class:`PredefinedPairFolds`
the test fold of each    :func:`fold_codes`, :func:`repeated_fold_codes`
======================== ====================================================================
"""

from bioeval.base.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
