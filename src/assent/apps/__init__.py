"""Applications, a folder each with the same modules: data, features, model, decode, metrics, view.

An application brings its own scores; what decodes them is the library.
"""
