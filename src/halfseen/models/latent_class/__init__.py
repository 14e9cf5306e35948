"""Latent class models of mixed columns with gaps."""

from typing import TYPE_CHECKING, Any

from halfseen.distributions.mixed_parameters import (
    MixedParameters,
)
from halfseen.estimators.dask_methods import lazy_on_dask
from halfseen.estimators.parameter_checks import (
    check_choice,
)
from halfseen.inference.model import About
from halfseen.latent.mixed_classes import MixedClasses
from halfseen.latent.moment_start import by_items
from halfseen.models.latent_class.concerns import (
    informative_missingness,
    locally_dependent,
    redundant_columns,
)
from halfseen.models.latent_class.explanation import (
    Dependence,
    category_probabilities,
    dependence,
    surprisals,
)
from halfseen.models.mixed_columns import MixedColumnMoments, MixedColumnsEstimator

if TYPE_CHECKING:
    from halfseen.report.separation import Explanation

ABOUT = About(
    name="classes",
    noun="class",
    gives="classes of rows of mixed columns: numbers, counts, categories",
    assumes="Within a class columns are independent of each other.",
    weighting="sqrt",
    labels=True,
    counts=False,
)
GAPS = ("ignorable", "informative")


class LatentClass(MixedColumnsEstimator):
    """Classes of rows of mixed columns: measurements, counts, categories, with gaps anywhere.

    Within a class columns are independent: continuous ones normal (outliers allowed for), counts
    negative binomial, and every value of the others has a probability of its own. The moments of
    distinct columns, each seen through bounded features and weighted by how well it is known, are
    decomposed into classes; from there, and from randomly drawn rows, EM climbs to the maximum of
    the likelihood.

    Parameters
    ----------
    gaps : {"ignorable", "informative"}, default="ignorable"
        Whether gaps say nothing beyond what is observed, or tell of the class: then whether a
        column is observed is itself learned as a column of two values.

    References
    ----------
    P. Lazarsfeld, N. Henry (1968), Latent structure analysis. L. Hunt, M. Jorgensen (2003), Mixture
    model clustering for mixed data with missing information. P. Jain, S. Oh (2014), Learning
    mixtures of discrete product distributions using spectral decompositions.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfseen import LatentClass
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(2000) < 0.4
    >>> table = pd.DataFrame({
    ...     "temperature": rng.normal(np.where(ill, 39.0, 36.8), 0.5),
    ...     "cough": np.where(rng.random(2000) < np.where(ill, 0.9, 0.2), "yes", "no"),
    ...     "visits": rng.poisson(np.where(ill, 3.0, 0.5)),
    ... })
    >>> table.loc[rng.random(2000) < 0.3, "cough"] = None
    >>> model = LatentClass(2).fit(table)
    >>> model.kinds_
    {'temperature': 'continuous', 'cough': 'binary', 'visits': 'count'}
    >>> sick = model.weights_.argmin()
    >>> float(model.profiles_["cough"]["probabilities"]["yes"][sick].round(1))
    0.9
    """

    about = ABOUT
    Parameters = MixedParameters

    gaps: str

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        kinds: Any = "auto",
        gaps: str = "ignorable",
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
        moments: str = "available",
        outliers: str | None = "auto",
        prior: float | None = 1.0,
        refine: str | None = "em",
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self._keep_parameters(locals())

    def _check(self) -> None:
        check_choice(self, "gaps", GAPS)
        super()._check()

    def _model(self) -> MixedClasses:
        return MixedClasses(
            about=ABOUT,
            abilities=self._abilities("Classes"),
            emission=self._emission(informative=self.gaps == "informative"),
            cumulants=MixedColumnMoments(),
            tol=self.tol,
            max_iter=self.max_iter,
            own_checks=(informative_missingness, redundant_columns, locally_dependent),
            moment_start=by_items,
        )

    @lazy_on_dask
    def surprisal(self, X: Any) -> Any:
        """Surprisal of each cell given the others of its row: ``-log p(x_d | x_-d)``; (n, d).

        In nats, NaN in the gaps and in columns that the model does not use. Of a continuous column
        it is minus the logarithm of a density in that column's units, to be compared within the
        column. Data frames come back as such.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table, whatever ``predict`` takes.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from halfseen import LatentClass
        >>> rng = np.random.default_rng(0)
        >>> child = rng.random(1000) < 0.5
        >>> table = pd.DataFrame({
        ...     "height": rng.normal(np.where(child, 120, 175), 8),
        ...     "school": np.where(child, "pupil", "none"),
        ...     "works": np.where(child, "no", rng.choice(["yes", "no"], 1000, p=[0.8, 0.2])),
        ... })
        >>> table.loc[0] = [180.0, "none", "yes"]
        >>> table.loc[1] = [180.0, "pupil", "yes"]
        >>> found = LatentClass(2, random_state=0).fit(table).surprisal(table)
        >>> float(found.loc[0, "school"]) < 0.1, float(found.loc[1, "school"]) > 3
        (True, True)
        """
        return surprisals(self, X)

    def dependence(self) -> Dependence:
        """Mutual information of every pair of columns under the model, in nats.

        Exact for columns of few values and small counts; continuous columns are cut into intervals
        so narrow that little is lost. Columns depend on each other only through the classes, so
        that no pair tells more than either does of the class.

        Returns
        -------
        Dependence
            With ``names``, ``values`` (d, d) and ``strongest()``.

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import LatentClass
        >>> rng = np.random.default_rng(0)
        >>> group = rng.integers(2, size=2000)
        >>> noise = rng.integers(2, size=(2000, 3))
        >>> X = np.where(rng.random((2000, 3)) < [0.1, 0.1, 1.0], noise, group[:, None])
        >>> found = LatentClass(2, random_state=0).fit(X.astype(float)).dependence()
        >>> found.strongest(1)[0][:2]
        ('0', '1')
        """
        return dependence(self.fitted)

    def explain(self, X: Any = None, level: float = 0.95) -> "Explanation":
        """What tells classes apart, and what each class is like, in words.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches, default=None
            The table that the model was learned from, to say how sure all that is.
        level : float, default=0.95
            The probability that an interval holds the truth.

        Returns
        -------
        Explanation
            With arrays, and sentences if it is printed.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from halfseen import LatentClass
        >>> rng = np.random.default_rng(0)
        >>> old = rng.random(3000) < 0.3
        >>> table = pd.DataFrame({
        ...     "age": rng.normal(np.where(old, 80.0, 40.0), 5.0),
        ...     "pension": np.where(rng.random(3000) < np.where(old, 0.95, 0.05), "yes", "no"),
        ...     "blood": rng.choice(["A", "B", "0"], 3000),
        ... })
        >>> found = LatentClass(2, random_state=0).fit(table).explain()  # print() tells it all
        >>> found.tells_nothing
        ('blood',)
        >>> found.classes[1].title, found.classes[1].lines[0][:23]
        ('Class 2: 30% of rows', 'age higher than average')
        """
        # Imported here, as models are below the report that shows them.
        from halfseen.report.registry import portrait_of
        from halfseen.report.separation import explained

        return explained(portrait_of(self), self, X, level)

    def impute(
        self,
        X: Any,
        *,
        return_std: bool = False,
        draws: int | None = None,
        possible: bool = False,
        return_proba: bool = False,
    ) -> Any:
        """``X`` with each gap filled: numbers by expectations, categories by the likeliest one.

        Arrays come back as arrays and data frames as data frames, with observed cells, names and
        index as they were; files as an Arrow table.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table to fill.
        return_std : bool, default=False
            Return also each cell's predictive standard deviation, zero where it was observed and
            NaN in columns that are not used; of a category, the probability that it is another.
        draws : int or None, default=None
            Return this many tables with gaps filled by random draws from their distribution given
            what is observed, for multiple imputation.
        possible : bool, default=False
            Fill numbers, too, only with values that a column can have.
        return_proba : bool, default=False
            Return also, for each column of few values by name, the probabilities (n, l) of its
            categories in the order of ``profiles_``.
        """
        filled = super().impute(X, return_std=return_std, draws=draws, possible=possible)
        return (filled, category_probabilities(self, X)) if return_proba else filled
