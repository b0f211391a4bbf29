"""The version, which every stage may read without loading the package's public names."""

__version__ = "0.1.0"
