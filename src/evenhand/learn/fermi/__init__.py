"""DPFermi: a private classifier with a penalty on the dependence between answers and groups."""
