"""The claims of the five papers, recomputed: ``ssdlab reproduce``."""

from ssdlab_reproduction.claim import SYSTEMS, Claim, Figure, Verdict, claims
from ssdlab_reproduction.ledger import Ledger, Row, reproduce

__all__ = ["SYSTEMS", "Claim", "Figure", "Ledger", "Row", "Verdict", "claims", "reproduce"]
