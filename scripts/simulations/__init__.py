"""How often intervals, tests and promises hold: simulations with a known truth.

``scripts/coverage`` runs them. A claim is one :class:`~simulations.claims.Claim`, in the module of
its topic; ``populations`` has the people, ``store`` the counts, ``table`` what is printed.
"""
