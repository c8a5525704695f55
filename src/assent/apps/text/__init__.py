"""Raw text as sentences: tokens with their offsets, and where sentences end.

Rules, no model: they follow the conventions of UD_English-EWT, and treat other scripts sanely.
"""
