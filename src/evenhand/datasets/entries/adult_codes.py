"""Code lists of the Adult files, as published with them."""

from __future__ import annotations

from evenhand.schema import Domain

__all__ = [
    "COUNTRIES", "EDUCATION", "HOURS", "MARITAL", "MARRIED", "OCCUPATIONS", "RACES", "RELATIONSHIPS", "SEXES",
    "WORKCLASSES", "WORKED", "domain",
]  # fmt: skip

WORKCLASSES = (
    "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov",
    "Without-pay",
)  # fmt: skip

WORKED = tuple(each for each in WORKCLASSES if each != "Never-worked")

# With the number that the files give each level of schooling.
EDUCATION = {
    "10th": 6, "11th": 7, "12th": 8, "1st-4th": 2, "5th-6th": 3, "7th-8th": 4, "9th": 5, "Assoc-acdm": 12,
    "Assoc-voc": 11, "Bachelors": 13, "Doctorate": 16, "HS-grad": 9, "Masters": 14, "Preschool": 1,
    "Prof-school": 15, "Some-college": 10,
}  # fmt: skip

MARITAL = (
    "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married",
    "Separated", "Widowed",
)  # fmt: skip

MARRIED = ("Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent")

OCCUPATIONS = (
    "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners",
    "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales",
    "Tech-support", "Transport-moving",
)  # fmt: skip

RELATIONSHIPS = ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife")

RACES = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")

SEXES = ("Female", "Male")

COUNTRIES = (
    "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador",
    "England", "France", "Germany", "Greece", "Guatemala", "Haiti", "Holand-Netherlands", "Honduras",
    "Hong", "Hungary", "India", "Iran", "Ireland", "Italy", "Jamaica", "Japan", "Laos", "Mexico",
    "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru", "Philippines", "Poland", "Portugal", "Puerto-Rico",
    "Scotland", "South", "Taiwan", "Thailand", "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia",
)  # fmt: skip

# The 96 values named in the published label encoding of arcolezi2023: 1 to 99 without three.
HOURS = tuple(hours for hours in range(1, 100) if hours not in (71, 83, 93))


def domain(values: tuple[str, ...], *, unknown: bool = False) -> Domain:
    """Return the domain of a code list, with ``"?"`` for unknown as its first value if asked for.

    Examples
    --------
    >>> domain(SEXES, unknown=True)
    Domain.categorical(['?', 'Female', 'Male'])
    """
    return Domain.categorical(["?", *values] if unknown else list(values))
