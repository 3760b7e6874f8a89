//! How far apart numbers may be that both halves compare.

/// Stream sequence numbers that far apart cannot be ordered any more (RFC 1982 §3.2).
pub(crate) const SSN_SPAN: u64 = 1 << 15;

/// TSNs are at most so far ahead of the first that is outstanding (RFC 9260 §6.1).
pub(crate) const TSN_SPAN: u64 = (1 << 31) - 1;

/// Offsets further than this ahead are of TSNs before a reset, and late (RFC 6525 §5.2.4).
pub(crate) const FAR: u64 = 1 << 30;
