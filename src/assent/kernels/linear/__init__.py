"""Linear models over hashed features: keys of templates, sums of weights, their updates."""
