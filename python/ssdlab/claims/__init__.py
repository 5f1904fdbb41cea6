"""What the five papers claim, recomputed: ``ssdlab reproduce``."""

from ssdlab.claims.declared import SYSTEMS, Claim, Figure, Verdict, claims
from ssdlab.claims.ledger import Ledger, Row, reproduce

__all__ = ["SYSTEMS", "Claim", "Figure", "Ledger", "Row", "Verdict", "claims", "reproduce"]
