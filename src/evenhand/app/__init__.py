"""The workbench: a local web page that goes from a file to an answer, without any algorithm of its own."""
