//! Helpers of the end-to-end tests: where the built binaries are, fixtures.
