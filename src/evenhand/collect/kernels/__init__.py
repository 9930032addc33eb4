"""Compiled kernels in whole numbers, one file for each family of protocols."""
