"""When a gap counts as closed: one rule for certificates, solvers and compiled loops.

A gap is compared with ``tolerance · (scale + |bound|)``.  The scale is that of the scores
(`GraphScores.scale`), so that nothing changes when all of them are multiplied by a constant.
"""

from __future__ import annotations


class AbsoluteGap(float):
    """A gap tolerance in units of the scores, where a relative one is not what is wanted.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.AD3(gap_tolerance=at.AbsoluteGap(0.5)))
        >>> result.status.name, round(result.gap, 4)
        ('OPTIMAL', 0.5)
    """

    def __mul__(self, factor: float) -> AbsoluteGap:
        return AbsoluteGap(float(self) * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> AbsoluteGap:
        return AbsoluteGap(float(self) / divisor)

    def __repr__(self) -> str:
        return f"AbsoluteGap({float(self)!r})"


def least_and_relative(tolerance: float, scale: float) -> tuple[float, float]:
    """The allowed gap as ``least + relative · |bound|``, for compiled loops."""
    if isinstance(tolerance, AbsoluteGap):
        return float(tolerance), 0.0
    return float(tolerance) * scale, float(tolerance)


def allowed_gap(tolerance: float, bound: float, scale: float) -> float:
    """The largest gap that counts as closed.

    Example:
        >>> allowed_gap(0.01, -5.0, 2.0), allowed_gap(AbsoluteGap(0.5), -5.0, 2.0)
        (0.07, 0.5)
    """
    least, relative = least_and_relative(tolerance, scale)
    return least + relative * abs(bound)
