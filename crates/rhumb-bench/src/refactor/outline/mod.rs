//! What of a file matters here: its classes, their methods, and the functions at its top level, by language.
//!
//! What counts as a class, and which methods need nothing of their instance:
//!
//! | language | class | a method is tied to its instance by |
//! |---|---|---|
//! | Python | `class` | `self`, `super`; in its head a name that the class binds, anywhere one of a function around the class, or `__name`; a decorator, a name with two underscores on both sides |
//! | Rust | the type and all its `impl` blocks in the file | `self`, `Self`, a parameter of the block, in a text that is formatted too; an `impl` of a trait |
//! | TypeScript | `class` | `this`, `super`, `#private` and private names, a parameter of the class, a function around it; a decorator, `override` |
//! | Java | `class`, `record` or `enum` at the top level | `this`, `super`, any name that the class declares or could inherit, `synchronized`; an annotation |
//! | Go | the type and all its methods in the file | its receiver, a parameter of the type |
//! | C++ | `class` or `struct` with its body | `this`, any name that the class declares or could inherit; `virtual`, `override` |
//!
//! Where names are found without `this` (Java, C++), a name that could be the class's counts as used: a method is left out rather
//! than made a task that cannot be done. So does, below a base class, every name that the method does not declare itself.
//!
//! In each a method of the same name in a type above or below its own, in the same file, keeps it; in Go one in any interface of the
//! file.
//!
//! Java has no functions outside of classes: there a function is a static method of another class at the top level.
//! Languages that find the names of a class without `this`: whether a method may be saying one.

use crate::refactor::syntax_tree::{Visit, mentions, parts_without_name, text, walk};
use std::collections::BTreeSet;
use tree_sitter::Node;

mod cpp;
mod go;
mod java;
mod python;
mod rust;
mod typescript;

use tree_sitter::Node;

use crate::refactor::syntax_tree as count;

/// Why a method cannot stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// It belongs to no instance to begin with, or has no body: static methods, constructors, declarations.
    NoInstance,
    /// It uses its instance, or what only its class has.
    Uses,
    /// Something else wants it where it is: a decorator, a trait, a base class, the language itself.
    Wanted,
}

/// A method of a class.
#[derive(Debug, Clone)]
pub struct Method<'t> {
    /// Its name.
    pub name: String,
    /// All of it.
    pub node: Node<'t>,
    /// The parameter that its instance comes in, where the language has one.
    pub instance: Option<Node<'t>>,
    /// Why it cannot stand alone, if it cannot.
    pub tie: Option<Obstacle>,
}

/// A class.
#[derive(Debug, Clone)]
pub struct Class<'t> {
    /// Its name.
    pub name: String,
    /// What it consists of.
    pub parts: Vec<Node<'t>>,
    /// Its methods.
    pub methods: Vec<Method<'t>>,
}

/// A function at the top level.
#[derive(Debug, Clone)]
pub struct Function<'t> {
    /// Its name.
    pub name: String,
    /// The class that it is a static method of, where there are no other functions.
    pub home: Option<String>,
    /// All of it.
    pub node: Node<'t>,
}

/// What of a file matters here.
#[derive(Debug, Clone, Default)]
pub struct Outline<'t> {
    /// Its classes.
    pub classes: Vec<Class<'t>>,
    /// The functions at its top level.
    pub functions: Vec<Function<'t>>,
}

impl<'t> Outline<'t> {
    /// The class of a name that is to be added to: types can be written in several parts.
    fn class(&mut self, name: &str) -> &mut Class<'t> {
        let at = self.classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
            self.classes.push(Class { name: name.to_owned(), parts: Vec::new(), methods: Vec::new() });
            self.classes.len() - 1
        });
        &mut self.classes[at]
    }
}

/// A language of the benchmark.
pub struct Dialect {
    /// The id of its grammar.
    pub id: &'static str,
    /// What of a file matters.
    pub outline: for<'t> fn(Node<'t>, &str) -> Outline<'t>,
    /// Counts syntax nodes; see [`count`].
    pub count: fn(Node<'_>, &str) -> usize,
    /// Whether there are no functions outside of classes.
    pub needs_home: bool,
    /// Whether a file without syntax errors is one of the language, where its grammar is too lenient to say.
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
    /// The one of a language, by the id of its grammar.
    pub fn of(id: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.id == id)
    }
}

/// How a language declares and uses names.
pub(crate) struct NamingRules {
    /// Whether an identifier is declared here, within a method.
    pub(crate) declares: fn(&Visit<'_>) -> bool,
    /// Whether an identifier that no declaration within the method explains may be a name of the class.
    pub(crate) reads: fn(&Visit<'_>, &str) -> bool,
}

/// What a class brings its methods.
pub(crate) struct ClassNames<'s> {
    /// The names that it declares.
    pub(crate) own: BTreeSet<&'s str>,
    /// Whether it has more that cannot be seen from here.
    pub(crate) inherits: bool,
}

/// Whether a method mentions a name that the class declares or, where it inherits, could inherit.
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
