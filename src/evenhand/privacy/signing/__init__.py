"""Signatures: keys of the user's, and notes in which every changed byte is found."""

from evenhand.privacy.signing.keys import AnyKey, PublicKey, SigningKey, find_key

__all__ = ["AnyKey", "PublicKey", "SigningKey", "find_key"]
