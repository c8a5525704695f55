"""What every exact answer has to show."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at


def assert_proven(result: at.Result, best: float) -> None:
    """The optimum ``best`` (-inf: nothing is feasible) with a proof that rests on nobody's word."""
    assert result.certificate.verify() and not result.certificate.trusted
    if best == -np.inf:
        assert result.status is at.Status.INFEASIBLE
    else:
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(best)
