"""A model: any classifier of scikit-learn; its seed is set where it has a ``random_state``."""

from sklearn.naive_bayes import BernoulliNB


class NaiveBayes(BernoulliNB):
    """Naive Bayes for features that are 0 or 1, as reports are."""
