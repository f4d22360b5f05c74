//! The JavaScript boundary.
