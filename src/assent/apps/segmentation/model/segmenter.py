"""Segmenter: what was learnt, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assent.apps.model_file import damage_reported, read_model, write_model
from assent.apps.segmentation.data.label_set import LabelSet
from assent.apps.segmentation.data.pictures import Photograph
from assent.apps.segmentation.data.points import PointCloud
from assent.apps.segmentation.decode import label_nodes
from assent.apps.segmentation.features.photograph_scene import photograph_scene
from assent.apps.segmentation.features.point_scene import point_scene
from assent.apps.segmentation.features.scene import Scene
from assent.apps.segmentation.model.node_classifier import NodeClassifier
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64

KIND = "segmenter"


@dataclass(frozen=True, eq=False)
class Segmenter:
    """Scores of nodes and prices of edges, both linear in their features.

    Attributes:
        labels: what is told apart.
        classifier: scores of nodes.
        prices: ``[F]`` numbers >= 0, by which an edge's features count where its ends differ.
        features: how scenes were made, for those who make new ones: plain data.
    """

    labels: LabelSet
    classifier: NodeClassifier
    prices: Float
    features: dict[str, Any]

    def segment(self, scene: Scene) -> Int64:
        """Indices ``[n]`` of labels."""
        expected = len(self.classifier.mean), len(self.prices)
        given = scene.nodes.shape[1], scene.features.shape[1]
        if given != expected:
            raise ModelError(
                f"the scene has {given[0]} features of nodes and {given[1]} of edges, the model "
                f"{expected[0]} and {expected[1]}: make it as those of the training were"
            )
        scores = self.classifier.scores(scene.nodes)
        return label_nodes(scores, scene.edges, scene.features @ self.prices)

    def segment_photograph(self, photograph: Photograph) -> Int64:
        """Indices ``[height, width]`` of labels."""
        self._made_of("photographs")
        if self.features["scribbles"] != (photograph.scribbles is not None):
            have = "with" if self.features["scribbles"] else "without"
            raise ModelError(f"the model was trained {have} scribbles: segment {have} them")
        scene = photograph_scene(photograph, count=self.features["superpixels"])
        return self.segment(scene)[scene.regions]

    def segment_points(self, cloud: PointCloud) -> Int64:
        """Indices ``[n]`` of labels."""
        self._made_of("points")
        side = self.features.get("voxel", 0.0)  # earlier models are of points alone
        scene = point_scene(cloud, neighbours=self.features["neighbours"], voxel=side)
        found = self.segment(scene)
        return found if scene.regions is None else found[scene.regions]

    def _made_of(self, kind: str) -> None:
        if self.features.get("of") != kind:
            raise ModelError(f"the model is for {self.features.get('of')}, not for {kind}")

    def save(self, path: str | Path) -> None:
        """Write the model; nothing in the file is run when it is read."""
        settings = {"names": list(self.labels.names), "numbers": list(self.labels.numbers),
                    "features": self.features}  # fmt: skip
        write_model(path, KIND, settings, {**self.classifier._asdict(), "prices": self.prices})

    @classmethod
    def load(cls, path: str | Path) -> Segmenter:
        """Read a model that `save` wrote."""
        settings, arrays = read_model(path, KIND)
        with damage_reported(path, KIND):
            labels = LabelSet(tuple(settings["names"]), tuple(map(tuple, settings["numbers"])))
            prices = arrays.pop("prices")
            return cls(labels, NodeClassifier(**arrays), np.asarray(prices), settings["features"])
