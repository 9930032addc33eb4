"""What is public about a data set: domains, columns, roles and levels of detail."""

from evenhand.schema.column import Column
from evenhand.schema.domain import Domain
from evenhand.schema.levels import Level
from evenhand.schema.roles import Roles
from evenhand.schema.schema import Schema

__all__ = ["Column", "Domain", "Level", "Roles", "Schema"]
