"""Learning weights from examples: trainers, sets of weights, and the loop that drives them."""

from assent.learn.driver import Training, train
from assent.learn.dual_extragradient import DualExtragradient
from assent.learn.estimator import StructuredPredictor, accuracy
from assent.learn.examples import Examples
from assent.learn.extragradient import Extragradient
from assent.learn.folder import read_folder, write_folder
from assent.learn.frank_wolfe import FrankWolfe
from assent.learn.geometry import Entropic, Euclidean
from assent.learn.log_likelihood import AdaGradLikelihood, LogLikelihood
from assent.learn.mira import MIRA
from assent.learn.perceptron import AveragedPerceptron
from assent.learn.plot import plot_path
from assent.learn.projected_gradient import ProjectedGradient
from assent.learn.protocol import Measure, Trainer
from assent.learn.quadratic_program import QuadraticProgram, regularization_path
from assent.learn.saddle import SaddleSettings
from assent.learn.sets import EntropicL1Ball, L1Ball, L2Ball
from assent.learn.steps import StepSearch
from assent.learn.subgradient import Subgradient
from assent.learn.trace import LearningTrace, Step
from assent.models.losses import Hamming, LabelCosts, WeightedHamming

__all__ = [
    "MIRA",
    "AdaGradLikelihood",
    "AveragedPerceptron",
    "DualExtragradient",
    "Entropic",
    "EntropicL1Ball",
    "Euclidean",
    "Examples",
    "Extragradient",
    "FrankWolfe",
    "Hamming",
    "L1Ball",
    "L2Ball",
    "LabelCosts",
    "LearningTrace",
    "LogLikelihood",
    "Measure",
    "ProjectedGradient",
    "QuadraticProgram",
    "SaddleSettings",
    "Step",
    "StepSearch",
    "StructuredPredictor",
    "Subgradient",
    "Trainer",
    "Training",
    "WeightedHamming",
    "accuracy",
    "plot_path",
    "read_folder",
    "regularization_path",
    "train",
    "write_folder",
]
