"""Many small problems in one compiled loop: each from start to finish."""
