//! What source code means: the language registry, tags (definitions and references), and highlighting.

pub mod tag;
