//! Small numbers from an input.

/// Reads small numbers from the input; zeros after its end.
pub(crate) struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
    pub fn index(&mut self, len: usize) -> usize {
        self.byte() as usize % len
    }
}
