"""Read Excel workbooks."""
