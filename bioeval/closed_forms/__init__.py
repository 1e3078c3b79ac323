"""What a simulated population's rates are in expectation, from formulas.

Two models, the two of :func:`bioeval.simulate`:

:class:`GaussianScores`
    genuine and impostor scores are independent Gaussian numbers: every rate, curve and
    operating point of every task has a formula.
:class:`GaussianEmbeddings`
    each person is a Gaussian cloud, compared by the Euclidean distance: the rates of
    verification have one.
"""

from bioeval.closed_forms.gaussian_embeddings import GaussianEmbeddings
from bioeval.closed_forms.gaussian_scores import GaussianScores

__all__ = ["GaussianEmbeddings", "GaussianScores"]
