"""ParityPostProcessor: equal rates for groups by changing few answers, with bounds."""
