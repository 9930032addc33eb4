"""Hold what several kinds of study use: models, features, reports, mechanisms that publish tables."""
