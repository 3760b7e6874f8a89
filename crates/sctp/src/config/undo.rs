//! These settings say what finds out that a reduction of a window was spurious.

/// `UndoOptions` say what finds out that a reduction of a window was spurious, so that it is taken
/// back. RFC 9260 has neither of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UndoOptions {
    /// True: reports of duplicates show it, when all that was sent again since the reduction is
    /// reported (RFC 3708).
    pub duplicates: bool,
    /// True: the echo of a timestamp shows it, when the first SACK for something that was sent
    /// again answers a packet that left before that (Eifel detection, RFC 3522). This needs
    /// [`Config::timestamps`](crate::Config::timestamps).
    pub timestamps: bool,
}

impl UndoOptions {
    /// Returns whether anything is looked for.
    #[inline]
    pub(crate) fn any(self) -> bool {
        self.duplicates || self.timestamps
    }
}
