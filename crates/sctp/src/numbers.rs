//! These constants say how far apart numbers may be that both halves of an association compare.

/// Stream sequence numbers that are this far apart or more cannot be ordered any more (RFC 1982
/// §3.2).
pub(crate) const SSN_SPAN: u64 = 1 << 15;

/// At most this many TSNs may be outstanding, counted from the first that is (RFC 9260 §6.1).
pub(crate) const TSN_SPAN: u64 = (1 << 31) - 1;

/// Offsets further ahead than this belong to TSNs from before a reset of the association, and are
/// late (RFC 6525 §5.2.4).
pub(crate) const FAR: u64 = 1 << 30;
