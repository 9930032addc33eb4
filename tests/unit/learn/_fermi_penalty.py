"""The penalty of DP-FERMI and the dependence that it measures, written as their formulas."""

import numpy as np


def joint_shares(chances, groups, n_groups):
    columns = [np.bincount(groups, weights=column, minlength=n_groups) for column in chances.T]
    return np.column_stack(columns) / len(chances)


def best_matrix(chances, groups, shares):
    """Return the matrix, groups by answers, for which the penalty is the dependence itself."""
    joint = joint_shares(chances, groups, len(shares))
    return joint / (joint.sum(axis=0) * np.sqrt(shares)[:, None])


def dependence(chances, groups, n_groups):
    """Return the dependence of answers on groups by its definition: 0 if there is none."""
    joint = joint_shares(chances, groups, n_groups)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = expected > 0
    return float((joint[there] ** 2 / expected[there]).sum() - 1)


def penalty(chances, groups, matrix, shares):
    """Return the mean penalty of the rows for one matrix, at most the dependence."""
    bracket = 2 * matrix[groups] / np.sqrt(shares)[groups][:, None] - (matrix**2).sum(axis=0)
    return float((chances * bracket).sum(axis=1).mean() - 1)
