"""Log-likelihood ratios: Cllr, costs by prior, and calibrators."""
