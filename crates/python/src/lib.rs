//! Python bindings: the private module `anabranch._core`.
