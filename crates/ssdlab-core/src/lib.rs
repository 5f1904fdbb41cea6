//! The drive: a deterministic state machine of three verbs.
