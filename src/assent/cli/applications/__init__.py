"""Verbs of the applications; ``train``, ``evaluate`` and ``show`` take what they are about."""
