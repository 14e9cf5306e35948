"""The paper's figures again, with a verdict on each of its claims.

O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent
variables with partial data. Figures are descriptions (:mod:`figures`), one runner measures them all
(:mod:`running`), what was measured is kept as it comes in (:mod:`store`), rules turn it into
verdicts (:mod:`verdicts`, :mod:`claims`), and the rest is drawing and writing.
"""
