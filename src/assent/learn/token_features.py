"""TokenFeatures: features of the tokens of sequences, written as dicts, as sparse rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from assent.errors import ModelError


class TokenFeatures:
    """Turns sequences of tokens into sparse features ``[T, D]``.

    Features of a token are a dict, read by scikit-learn's `DictVectorizer`: strings become
    indicators ("word=the"), numbers stay numbers, ``True`` is 1.  What ``transform`` meets and
    ``fit`` has not seen is left out.

    Args:
        extract: ``extract(tokens, i)`` returns the dict of token ``i``; left out, inputs are
            sequences of dicts already.

    After ``fit``: ``names_``, the names of the columns.

    Example:
        >>> def looks(words, i):
        ...     return {"word": words[i], "capital": words[i][0].isupper(), "first": i == 0}
        >>> features = TokenFeatures(looks).fit([["The", "dog"], ["A", "cat"]])
        >>> features.transform([["The", "cat"]])[0].toarray()[:, :2].tolist()
        [[1.0, 1.0], [0.0, 0.0]]
        >>> features.get_feature_names_out()[:3].tolist()
        ['capital', 'first', 'word=A']
    """

    def __init__(self, extract: Callable[[Any, int], Mapping[str, Any]] | None = None) -> None:
        self.extract = extract

    def fit(self, X: Sequence[Any], y: Any = None) -> TokenFeatures:
        """Learn the names of features from sequences."""
        self.fit_transform(X)
        return self

    def transform(self, X: Sequence[Any]) -> list[Any]:
        """Features ``[T, D]`` of every sequence, in SciPy's CSR format."""
        if not hasattr(self, "names_"):
            raise ModelError("these features have not been fitted yet: call fit first")
        dicts = [self._dicts(x) for x in X]
        if not dicts:
            return []
        rows = self._vectorizer.transform([row for own in dicts for row in own])
        return _sequences(rows, dicts)

    def fit_transform(self, X: Sequence[Any], y: Any = None) -> list[Any]:
        """Both at once, reading every token once."""
        dicts = [self._dicts(x) for x in X]
        self._vectorizer = _vectorizer()
        rows = self._vectorizer.fit_transform([row for own in dicts for row in own])
        self.names_ = tuple(self._vectorizer.feature_names_)
        return _sequences(rows, dicts)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns, ``[D]``."""
        return np.array(self.names_, object)

    @classmethod
    def named(cls, names: Sequence[str], extract: Any = None) -> TokenFeatures:
        """Features fitted before, by the names of their columns."""
        made = cls(extract)
        made._vectorizer, made.names_ = _vectorizer(), tuple(names)
        made._vectorizer.feature_names_ = list(names)
        made._vectorizer.vocabulary_ = {name: i for i, name in enumerate(names)}
        return made

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, as scikit-learn asks for them."""
        return {"extract": self.extract}

    def set_params(self, **params: Any) -> TokenFeatures:
        """Change settings."""
        if set(params) - {"extract"}:
            raise ValueError(f"TokenFeatures has only the setting 'extract', got {sorted(params)}")
        self.extract = params.get("extract", self.extract)
        return self

    def _dicts(self, x: Any) -> list[Mapping[str, Any]]:
        rows = list(x) if self.extract is None else [self.extract(x, i) for i in range(len(x))]
        for i, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise ModelError(
                    f"features of token {i} are a dict of names and values, got {row!r}; a "
                    "function of tokens is given as TokenFeatures(function)"
                )
        return rows

    def __repr__(self) -> str:
        name = getattr(self.extract, "__name__", repr(self.extract))
        known = f", {len(self.names_)} names" if hasattr(self, "names_") else ""
        return f"TokenFeatures({'' if self.extract is None else name}{known})"


def _sequences(rows: Any, dicts: Sequence[Sequence[Any]]) -> list[Any]:
    """The rows of each sequence."""
    return [rows[a:b] for a, b in pairwise(np.cumsum([0, *map(len, dicts)]))]


def _vectorizer() -> Any:
    try:
        from sklearn.feature_extraction import DictVectorizer
    except ImportError as error:
        raise ImportError(
            'features as dicts need scikit-learn: pip install "assent[learn]"'
        ) from error
    return DictVectorizer()
