"""The parts of an audit's page: for each threshold and group its pictures, each with the tables it is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from factloop.evaluation.audit.adjustment_records import AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views import adjustment_sheets, dataset_sheets, document_sheets, score_sheets, sheets
from factloop.evaluation.audit.views.dataset_sheets import best_pair
from factloop.evaluation.audit.views.pictures.adjustment import draw_adjustment
from factloop.evaluation.audit.views.pictures.agreement import draw_agreement
from factloop.evaluation.audit.views.pictures.bias import draw_headroom, draw_mean_bias, draw_system_bias
from factloop.evaluation.audit.views.pictures.chunking import draw_chunking
from factloop.evaluation.audit.views.pictures.marks import Mark
from factloop.evaluation.audit.views.pictures.panels import draw_bias_panels, draw_pair, draw_trade_off
from factloop.evaluation.audit.views.pictures.ranking import WrongPairs, draw_orders, draw_wrong_pairs
from factloop.evaluation.audit.views.pictures.rates import draw_rates
from factloop.evaluation.audit.views.pictures.similarity import draw_similarity
from factloop.evaluation.audit.views.scope import Scope
from factloop.evaluation.audit.views.words import where
from factloop.reports.sheet.table import Sheet

Found = TypeVar("Found")
Draw = Callable[[Sequence[Any], Mapping[str, Mark], str], Markup | None]


@dataclass(frozen=True)
class Part:
    """One kind of figure on one group. The first sheet stands open beside the picture, the others can be opened."""

    key: str
    title: str
    lead: str
    sheets: tuple[Sheet, ...]
    files: tuple[str, ...]
    """The CSV files that hold it."""
    picture: Markup | None = None


@dataclass(frozen=True)
class View(Scope):
    """What the parts of one group at one threshold are made from."""

    marks: Mapping[str, Mark]
    is_drawn: bool
    members: frozenset[str] = frozenset()
    """The data sets of a group of several; empty for one data set."""

    def of_datasets(self, found: Sequence[Found]) -> list[Found]:
        """Those of single data sets of the group, whose records have a group."""
        return [one for one in found if one.group.kind == "dataset" and one.group.name in self.members]  # type: ignore[attr-defined]

    def of_members(self, found: Sequence[Found]) -> list[Found]:
        """Those of single data sets of the group, whose records name a data set."""
        return [one for one in found if one.dataset in self.members]  # type: ignore[attr-defined]

    def of_here(self, found: Sequence[Found]) -> list[Found]:
        """Those of the data set, or of the data sets of the group, whose records name a data set."""
        return self.of_members(found) if self.members else self.of_dataset(found)

    def draw(self, draw: Draw, found: Sequence[Any]) -> Markup | None:
        return draw(found, self.marks, where(self.group)) if self.is_drawn else None


def parts_of(view: View) -> Iterator[Part]:
    """Those for which there are figures, in the order of the paper; then those that lay data sets beside each other."""
    of_group = (_rates, _scores, _agreement, _bias, _headroom, _ranking, _similarity, _chunking, _adjustment)
    for make in (*of_group, _trade_off, _pair, _data_sets):
        part = make(view)
        if any(sheet.lines for sheet in part.sheets):
            yield part


def _trade_off(view: View) -> Part:
    found = view.of_datasets(view.at.rates.rates)
    return Part(
        "trade-off",
        "Does it trade errors alike on every data set?",
        "A pane for each data set, TNR against TPR. Above the dashed line it finds errors where there are none, below "
        "it lets them pass; evaluators of like balanced accuracy can lie on both sides.",
        (dataset_sheets.trade_off(found),),
        ("rates",),
        view.draw(draw_trade_off, found),
    )


def _pair(view: View) -> Part:
    found = best_pair(view.at, view.group, view.of_datasets(view.at.agreement.pairs))
    names = "" if not found else f" {found[0].evaluator} and {found[0].other}"
    return Part(
        "pair",
        "Do the two best evaluators name the same claims on every data set?",
        "The two with the highest mean balanced accuracy: claims that both call wrong, of those that either "
        f"does.{names and f' Here{names}.'}",
        (dataset_sheets.pair(found),),
        ("agreement",),
        view.draw(draw_pair, found),
    )


def _data_sets(view: View) -> Part:
    systems = [one for one in view.of_members(view.at.quantification.systems) if one.level is Level.CLAIM]
    found = [one for one in view.of_members(view.at.quantification.datasets) if one.level is Level.CLAIM]
    return Part(
        "by-dataset",
        "Is it off in one direction everywhere?",
        "A pane for each data set: the line is the error rate of each system by labels, the marks those by evaluators. "
        "The table has all claims of a data set together.",
        (dataset_sheets.bias(found),),
        ("bias_by_dataset", "bias_by_system"),
        view.draw(draw_bias_panels, systems),
    )


def _rates(view: View) -> Part:
    found = view.of_group(view.at.rates.rates)
    return Part(
        "rates",
        "How often is it right?",
        "TPR: of the claims that hold, the share passed. TNR: of those that do not, the share stopped. With TPR above "
        "TNR it lets errors pass, with TNR above TPR it finds errors where there are none. A coin has 50 and 50.",
        (sheets.rates(view),),
        ("rates",),
        view.draw(draw_rates, found),
    )


def _scores(view: View) -> Part:
    return Part(
        "scores",
        "Are its scores probabilities?",
        "ECE: how far the mean score of claims in ten equal bins lies from the share of them that hold, on average; 0 "
        "is best. The Brier score counts squared errors of single claims. AUC: how often a claim that holds scores "
        "higher than one that does not; 0.5 is chance. There are no intervals, and few claims make the ECE larger.",
        (score_sheets.scores(view), score_sheets.tenths(view)),
        ("scores", "scores_by_tenths"),
    )


def _agreement(view: View) -> Part:
    found = view.of_group(view.at.agreement.pairs)
    return Part(
        "agreement",
        "Do evaluators name the same claims?",
        "IoU: claims that both name, of those that at least one names; 100 is the same claims, 0 none in common. "
        "Evaluators with like error rates can still name other claims.",
        (sheets.agreement(view),),
        ("agreement",),
        view.draw(draw_agreement, found),
    )


def _bias(view: View) -> Part:
    found = view.of_group(view.at.quantification.evaluators)
    systems = view.of_dataset(view.at.quantification.systems)
    picture = view.draw(draw_system_bias, systems) if systems else view.draw(draw_mean_bias, found)
    return Part(
        "bias",
        "Are its error rates those of the labels?",
        "Bias: error rate by the evaluator less that by the labels, for each system. Below 0 errors go unseen. Mean "
        "and worst have no sign, and are less what sampling explains. A response is wrong if one of its claims is.",
        (sheets.bias(view), sheets.systems(view)),
        ("bias", "bias_by_system", "error_rates"),
        picture,
    )


def _headroom(view: View) -> Part:
    found = view.of_group(view.at.quantification.evaluators)
    return Part(
        "headroom",
        "Does it tell how much is left to improve?",
        "Headroom: the lowest error rate of any system. Too low, and work stops early; too high, and there seems to be "
        "more to gain than there is.",
        (sheets.headroom(view), dataset_sheets.group_headrooms(view.of_here(view.at.group_headrooms))),
        ("bias", "group_headrooms"),
        view.draw(draw_headroom, found),
    )


def _ranking(view: View) -> Part:
    ranked = view.of_dataset(view.at.rankings)
    if ranked:
        picture = view.draw(draw_orders, [one for one in ranked if one.level is Level.CLAIM])
    else:
        picture = view.draw(draw_wrong_pairs, [*_wrong_pairs(view, Level.CLAIM)])
    return Part(
        "ranking",
        "Does it order the systems as the labels do?",
        "Each pair of systems is tested twice, by labels and by predictions. A pair is ordered wrongly if the two do "
        "not agree on better, worse or no difference, and reversed if both see a difference, in opposite directions.",
        (sheets.ranking(view), sheets.order_table(view)),
        ("rankings", "mean_rankings", "order_tables"),
        picture,
    )


def _wrong_pairs(view: View, level: Level) -> Iterator[WrongPairs]:
    for one in view.of_group(view.at.mean_rankings):
        if one.level is level and one.share_wrong is not None and one.share_reversed is not None:
            yield WrongPairs(one.evaluator, one.share_wrong, one.share_reversed)


def _similarity(view: View) -> Part:
    found = view.of_group(view.at.surface)
    return Part(
        "similarity",
        "Does it follow the wording?",
        "Claims in five bins, by the share of their word pairs that the document has. TPR that falls to the left "
        "punishes paraphrase; TNR that falls to the right is taken in by copied words.",
        (document_sheets.wording(view),),
        ("similarity",),
        view.draw(draw_similarity, found),
    )


def _chunking(view: View) -> Part:
    found = view.of_group(view.at.chunking)
    return Part(
        "chunking",
        "Does it miss what stands far apart?",
        "Predictions with the whole document against those with the best of its chunks. Of claims that no single chunk "
        "carries more are lost, if the chunks are what loses them.",
        (document_sheets.chunking(view), document_sheets.long_documents(view)),
        ("chunking",),
        view.draw(draw_chunking, found),
    )


def _adjustment(view: View) -> Part:
    of_dataset = view.of_dataset(view.at.adjustment)
    found: Sequence[AdjustmentReport | MeanAdjustment] = of_dataset or view.of_group(view.at.mean_adjustments)
    return Part(
        "adjustment",
        "Can labels of one system mend its error rates?",
        "Each system serves once for calibration, and the error rates of the others are estimated. The figures are "
        "means over these choices of the mean and the worst magnitude of the bias.",
        (adjustment_sheets.adjustment(view), adjustment_sheets.calibrations(view)),
        ("adjustment", "mean_adjustment", "calibrations"),
        view.draw(draw_adjustment, found),
    )
