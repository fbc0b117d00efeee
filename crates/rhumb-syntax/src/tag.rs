//! Tags: the definitions and references of a file.

/// The kind of a definition. The names are those of the `kind` field in the JSON of `rhumb map`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A free function.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class.
    Class,
    /// A struct or record.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface, trait or protocol.
    Interface,
    /// A module, namespace or package.
    Module,
    /// A type alias.
    Type,
    /// A constant or static.
    Constant,
    /// A variable at the top level of a file.
    Variable,
    /// A field or property of a type.
    Field,
    /// A macro.
    Macro,
    /// A heading of a document, or a named block of configuration.
    Section,
    /// A key of structured data.
    Key,
    /// A target of a build file.
    Target,
    /// A table, view or index of a database.
    Table,
    /// A selector of a style sheet, or a named element of markup.
    Selector,
}

impl SymbolKind {
    /// The stable lower-case name, as captured in the queries (`@definition.<name>`) and printed as JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Module => "module",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Macro => "macro",
            Self::Section => "section",
            Self::Key => "key",
            Self::Target => "target",
            Self::Table => "table",
            Self::Selector => "selector",
        }
    }

    /// All kinds. Their positions are stored, so new kinds must be added at the end.
    const ALL: [Self; 17] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::Interface,
        Self::Module,
        Self::Type,
        Self::Constant,
        Self::Variable,
        Self::Field,
        Self::Macro,
        Self::Section,
        Self::Key,
        Self::Target,
        Self::Table,
        Self::Selector,
    ];

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The stored number of the kind.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The kind with this number; [`Self::Variable`] for an unknown number.
    pub fn from_number(number: u32) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or(Self::Variable)
    }
}

/// A symbol that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The bare name, as written.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// First line (the line of the name), 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The header as written, on one line, without the body: `fn area(&self) -> f64`.
    pub signature: String,
    /// Name of the innermost enclosing definition, if any (the class of a method).
    pub container: Option<String>,
    /// First line of the documentation without comment marks; may be empty.
    pub doc: String,
}

/// A use of a name in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The bare name, as written.
    pub name: String,
    /// 1-based line.
    pub line: u32,
}

/// The definitions, references and imports of a file, in source order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTags {
    /// The definitions.
    pub definitions: Vec<Definition>,
    /// The references, one per occurrence.
    pub references: Vec<Reference>,
    /// The imported modules and files as written, without quotes: `serde`, `./util`, `os.path`.
    pub imports: Vec<String>,
}
