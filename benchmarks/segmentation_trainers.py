"""The trainers that suite ``segmentation`` compares: weights of nodes and edges at once."""

from __future__ import annotations

from assent.apps.segmentation import SegmenterSettings
from assent.learn import (
    MIRA,
    AveragedPerceptron,
    DualExtragradient,
    FrankWolfe,
    ProjectedGradient,
)

# Steps of weights this much shorter than the paper's, those of outputs as much longer: outputs are
# thousands of nodes, a few dozen weights are near their solution long before them.  The best of
# 1, 0.2, 0.05 and 0.01 for photographs of one fold, trained on three others.
BALANCE = 0.01


def jointly(passes: int) -> dict[str, SegmenterSettings]:
    """Settings by name."""
    trainers = {
        "DualExtragradient": DualExtragradient(
            balance=BALANCE, adaptive=True, max_iterations=passes
        ),
        "ProjectedGradient": ProjectedGradient(balance=BALANCE, max_iterations=passes),
        "AveragedPerceptron": AveragedPerceptron(max_iterations=passes),
        "MIRA": MIRA(C=0.001, max_iterations=passes),
        "FrankWolfe": FrankWolfe(C=0.01, max_iterations=passes, averaged=True),
    }
    return {name: SegmenterSettings(trainer, jointly=True) for name, trainer in trainers.items()}
