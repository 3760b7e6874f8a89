"""One file a command; each only reads its options and calls the library."""
