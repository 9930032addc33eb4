"""Finding, downloading and checking the files of data sets."""
