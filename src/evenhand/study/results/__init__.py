"""Results of a study: arrays, estimates, intervals, comparisons and exports."""
