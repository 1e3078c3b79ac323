"""The public names, and where each is."""

from .det_plots import det as det
from .display import Curves as Curves, Display as Display
from .files import save as save, save_all as save_all
from .fold_plots import (
    assured as assured,
    folds as folds,
    threshold_study as threshold_study,
)
from .group_plots import groups as groups
from .plot_style import style as style
from .ranking_plots import ranking as ranking
from .rate_plots import (
    dir_far as dir_far,
    error_rates as error_rates,
    roc as roc,
)
from .reid_plots import (
    cmc as cmc,
    gallery_size as gallery_size,
    gom as gom,
    hota as hota,
    precision_recall as precision_recall,
    ranked_lists as ranked_lists,
)
from .score_plots import (
    matrix as matrix,
    score_distributions as score_distributions,
)
from .spread_plots import repeated as repeated, spread as spread
from .worst_pair_plots import worst_pairs as worst_pairs
from .zoo_plots import zoo as zoo
