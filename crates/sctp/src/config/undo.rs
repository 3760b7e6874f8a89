//! What finds out that a reduction of a window was needless.

/// Who finds out that a reduction of a window was needless, so that it is taken back. RFC 9260 has
/// none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UndoOptions {
    /// True: reports of duplicates do, when all that was sent again since the reduction is reported
    /// (RFC 3708).
    pub duplicates: bool,
    /// True: the echo of a timestamp does, when the first SACK for something that was sent again
    /// answers a packet that left before that (Eifel detection, RFC 3522); needs
    /// [`Config::timestamps`](crate::Config::timestamps).
    pub timestamps: bool,
}

impl UndoOptions {
    /// Anything is looked for.
    #[inline]
    pub(crate) fn any(self) -> bool {
        self.duplicates || self.timestamps
    }
}
