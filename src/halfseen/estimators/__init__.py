"""The verbs of the estimators."""
