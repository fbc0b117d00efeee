//! What comes from outside into a message: web pages, pictures, speech.

/// Something to get.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchOrder {}

/// What came.
#[derive(Debug, Clone)]
pub enum FetchReport {}
