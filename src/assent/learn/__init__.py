"""Learning weights from examples: trainers, sets of weights, and the loop that drives them."""

from assent.learn.estimator import StructuredPredictor, accuracy
from assent.learn.example_folder import read_folder, write_folder
from assent.learn.examples import Examples
from assent.learn.sequence_metrics import (
    sequence_accuracy,
    sequence_scorer,
    span_f1,
    spans,
    token_accuracy,
)
from assent.learn.token_features import TokenFeatures
from assent.learn.trainer import Measure, Trainer
from assent.learn.trainers.dual_extragradient import DualExtragradient
from assent.learn.trainers.extragradient import Extragradient
from assent.learn.trainers.frank_wolfe import FrankWolfe
from assent.learn.trainers.geometry import Entropic, Euclidean
from assent.learn.trainers.log_likelihood import AdaGradLikelihood, LogLikelihood
from assent.learn.trainers.mira import MIRA
from assent.learn.trainers.perceptron import AveragedPerceptron
from assent.learn.trainers.projected_gradient import ProjectedGradient
from assent.learn.trainers.quadratic_program import QuadraticProgram, regularization_path
from assent.learn.trainers.saddle import SaddleSettings
from assent.learn.trainers.step_sizes import StepSearch
from assent.learn.trainers.stochastic_subgradient import Subgradient
from assent.learn.trainers.weight_sets import EntropicL1Ball, L1Ball, L2Ball
from assent.learn.training_loop import RunOptions, Training, train
from assent.learn.training_plot import plot_path
from assent.learn.training_trace import LearningTrace, Step
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
    "RunOptions",
    "SaddleSettings",
    "Step",
    "StepSearch",
    "StructuredPredictor",
    "Subgradient",
    "TokenFeatures",
    "Trainer",
    "Training",
    "WeightedHamming",
    "accuracy",
    "plot_path",
    "read_folder",
    "regularization_path",
    "sequence_accuracy",
    "sequence_scorer",
    "span_f1",
    "spans",
    "token_accuracy",
    "train",
    "write_folder",
]
