"""Depth-first search over tables and constraints, compiled; reduced costs, odd cycles."""
