"""Small point clouds made up for tests: rough ground, a wall and a bush."""

import numpy as np

GROUND, WALL, BUSH, UNDETERMINED = 10, 20, 30, 99


def cloud(seed, n=400):
    """Points and numbers of their labels, a few undetermined."""
    rng = np.random.default_rng(seed)
    ground = np.column_stack([rng.uniform(0, 10, (n, 2)), rng.normal(0.0, 0.02, n)])
    wall = np.column_stack([rng.normal(10, 0.02, n), rng.uniform(0, 10, n), rng.uniform(0, 4, n)])
    ball = rng.normal(size=(n, 3))
    ball *= rng.uniform(0, 1, (n, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    bush = ball + np.array([*rng.uniform(2, 7, 2), 1.2])
    numbers = np.repeat([GROUND, WALL, BUSH], n)
    numbers[rng.random(3 * n) < 0.05] = UNDETERMINED
    return np.concatenate([ground, wall, bush]).round(3), numbers


def write_cloud(path, seed):
    points, numbers = cloud(seed)
    rows = [f"{x} {y} {z} {number} 2\n" for (x, y, z), number in zip(points, numbers, strict=True)]
    path.write_text("# x y z label confidence\n" + "".join(rows))
    return path
