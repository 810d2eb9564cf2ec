from __future__ import annotations

import numpy as np
import pytest

from factloop.evaluation.statistics.kappa import kappas


def test_by_hand() -> None:
    """po .7; rows .6 .4, columns .5 .5: pe .5; kappa .2 / .5. One disagreement among very many is what chance gives."""
    tables = np.array([[[4.0, 2.0], [1.0, 3.0]], [[1e7, 1.0], [0.0, 0.0]]])
    assert kappas(tables) == pytest.approx([0.4, 0.0])


def test_one_label_throughout_and_an_empty_table_have_none() -> None:
    tables = np.zeros((100, 3, 3))
    tables[:, 1, 1] = np.arange(100)
    assert np.isnan(kappas(tables)).all()
