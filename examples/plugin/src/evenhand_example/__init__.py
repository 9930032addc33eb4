"""One of everything that a package can add to evenhand."""
