"""The version of the package, also for User-Agent."""

__version__ = "0.1.0"
