"""Small photographs made up for tests: a disc on a ground, in noise, with scribbles."""

import numpy as np
from PIL import Image

SIZE = 60


def disc(seed, noise=35.0):
    """A picture, its mask (0, 255, 128 on the rim) and its scribbles in grey."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIZE, :SIZE]
    centre, radius = rng.uniform(22, 38, 2), rng.uniform(11, 17)
    away = np.hypot(x - centre[0], y - centre[1])
    figure, ground = np.array([150.0, 110.0, 90.0]), np.array([90.0, 110.0, 150.0])
    clean = np.where((away < radius)[..., None], figure, ground)
    # Noise in patches, which superpixels would follow.
    patches = rng.normal(0.0, noise, (SIZE // 3, SIZE // 3, 3)).repeat(3, 0).repeat(3, 1)
    picture = np.clip(clean + patches, 0, 255).astype(np.uint8)
    mask = np.where(away < radius - 0.5, 255, np.where(away < radius + 0.5, 128, 0))
    scribbles = np.where(away < 4, 255, np.where(away > 30, 0, 128))
    return picture, mask.astype(np.uint8), scribbles.astype(np.uint8)


def write_discs(folder, seeds):
    """Folders images, masks and scribbles."""
    for name in ("images", "masks", "scribbles"):
        (folder / name).mkdir(parents=True)
    for seed in seeds:
        for name, array in zip(("images", "masks", "scribbles"), disc(seed), strict=True):
            Image.fromarray(array).save(folder / name / f"disc{seed}.png")
    return folder
