"""LocalPrivatizer, the scikit-learn transformer, in its parts."""
