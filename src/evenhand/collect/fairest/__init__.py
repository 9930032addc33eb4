"""The fairest channel: the linear programs, certificates and inputs behind the protocol Optimal."""
