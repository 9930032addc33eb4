"""Tell what the rows of a study are like, as far as it bears on what protection does to groups."""

from evenhand.study.profile.profiling import (
    GroupProfile,
    Profile,
    profile,
    profile_of_results,
)

__all__ = ["GroupProfile", "Profile", "profile", "profile_of_results"]
