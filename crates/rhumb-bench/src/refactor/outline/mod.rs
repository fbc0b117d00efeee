//! The classes, methods and functions of a file, by language.
//!
//! The nodes that count as a class, and the obstacles to moving a method out of its class:
//!
//! | language | class | obstacles |
//! |---|---|---|
//! | Python | `class` | `self`, `super`; a name that the class binds, in the signature; a name of a function around the class; `__name`; a decorator; a name with two underscores on both sides |
//! | Rust | the type and all its `impl` blocks in the file | `self`, `Self`, a generic parameter of the block, also in format strings; an `impl` of a trait |
//! | TypeScript | `class` | `this`, `super`, `#private` and private names, a type parameter of the class, a function around it; a decorator, `override` |
//! | Java | `class`, `record` or `enum` at the top level | `this`, `super`, any name that the class declares or could inherit, `synchronized`; an annotation |
//! | Go | the type and all its methods in the file | its receiver, a parameter of the type |
//! | C++ | `class` or `struct` with its body | `this`, any name that the class declares or could inherit; `virtual`, `override` |
//!
//! In Java and C++, where `this` may be omitted, a name that could be a member counts as used: a method is left out rather than made
//! an impossible task. In a class with a base class, so does every name that the method does not declare.
//!
//! In every language, a method of the same name in a supertype or subtype in the same file is an obstacle; in Go, one in any
//! interface of the file.
//!
//! Java has no functions outside of classes. There, a function is a static method of another class at the top level.

mod cpp;
mod go;
mod java;
mod python;
mod rust;
mod typescript;

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::refactor::syntax_tree::{self as count, Visit, mentions, parts_without_name, text, walk};

/// Why a method cannot become a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// It has no instance or no body: static methods, constructors, declarations.
    NoInstance,
    /// It uses its instance or members of its class.
    Uses,
    /// Something else requires it in its class: a decorator, a trait, a base class, the language.
    Wanted,
}

/// A method of a class.
#[derive(Debug, Clone)]
pub struct Method<'t> {
    /// The name.
    pub name: String,
    /// The whole definition.
    pub node: Node<'t>,
    /// The parameter of the instance, if the language has one.
    pub instance: Option<Node<'t>>,
    /// Why it cannot become a function, if so.
    pub obstacle: Option<Obstacle>,
}

/// A class.
#[derive(Debug, Clone)]
pub struct Class<'t> {
    /// The name.
    pub name: String,
    /// The parts of its definition.
    pub parts: Vec<Node<'t>>,
    /// The methods.
    pub methods: Vec<Method<'t>>,
}

/// A function at the top level.
#[derive(Debug, Clone)]
pub struct Function<'t> {
    /// The name.
    pub name: String,
    /// The class of a static method, in a language without other functions.
    pub home: Option<String>,
    /// The whole definition.
    pub node: Node<'t>,
}

/// The classes and functions of a file.
#[derive(Debug, Clone, Default)]
pub struct Outline<'t> {
    /// The classes.
    pub classes: Vec<Class<'t>>,
    /// The functions at the top level.
    pub functions: Vec<Function<'t>>,
}

impl<'t> Outline<'t> {
    /// The class with a name, added if it is new. A type can have several parts.
    fn class(&mut self, name: &str) -> &mut Class<'t> {
        let at = self.classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
            self.classes.push(Class { name: name.to_owned(), parts: Vec::new(), methods: Vec::new() });
            self.classes.len() - 1
        });
        &mut self.classes[at]
    }
}

/// A supported language.
pub struct Dialect {
    /// The id of the grammar.
    pub id: &'static str,
    /// Reads the classes and functions of a file.
    pub outline: for<'t> fn(Node<'t>, &str) -> Outline<'t>,
    /// Counts syntax nodes; see [`count`].
    pub count: fn(Node<'_>, &str) -> usize,
    /// Whether functions must be in a class.
    pub needs_home: bool,
    /// Whether a file without syntax errors is valid, where the grammar is too lenient.
    pub is_sound: fn(Node<'_>) -> bool,
}

const PLAIN: Dialect =
    Dialect { id: "", outline: go::outline, count: count::plain, needs_home: false, is_sound: |_| true };

static DIALECTS: [Dialect; 7] = [
    Dialect { id: "python", outline: python::outline, count: count::python, is_sound: python::is_sound, ..PLAIN },
    Dialect { id: "rust", outline: rust::outline, ..PLAIN },
    Dialect { id: "typescript", outline: typescript::outline, ..PLAIN },
    Dialect { id: "tsx", outline: typescript::outline, ..PLAIN },
    Dialect { id: "java", outline: java::outline, needs_home: true, ..PLAIN },
    Dialect { id: "go", outline: go::outline, ..PLAIN },
    Dialect { id: "cpp", outline: cpp::outline, ..PLAIN },
];

impl Dialect {
    /// The language with this id.
    pub fn of(id: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.id == id)
    }
}

/// How a language that allows to omit `this` declares and uses names.
pub(crate) struct NamingRules {
    /// Whether an identifier is a declaration within a method.
    pub(crate) declares: fn(&Visit<'_>) -> bool,
    /// Whether an identifier that is not declared within the method may be a member of the class.
    pub(crate) reads: fn(&Visit<'_>, &str) -> bool,
}

/// The names that a class gives to its methods.
pub(crate) struct ClassNames<'s> {
    /// The declared names.
    pub(crate) own: BTreeSet<&'s str>,
    /// Whether it may inherit others.
    pub(crate) inherits: bool,
}

/// Whether a method uses a name that the class declares or could inherit.
pub(crate) fn uses(node: Node<'_>, kin: &ClassNames<'_>, naming: &NamingRules, source: &str) -> bool {
    let own: Vec<&str> = kin.own.iter().copied().chain(["this", "super"]).collect();
    parts_without_name(node).any(|part| mentions(part, source, &own))
        || (kin.inherits && reads_foreign(node, naming, source))
}

fn reads_foreign(node: Node<'_>, naming: &NamingRules, source: &str) -> bool {
    let identifiers = || walk(node).filter(|step| step.node.kind() == "identifier");
    let local: BTreeSet<&str> =
        identifiers().filter(|step| (naming.declares)(step)).map(|step| text(step.node, source)).collect();
    identifiers().any(|step| {
        let name = text(step.node, source);
        !local.contains(name) && (naming.reads)(&step, name)
    })
}
