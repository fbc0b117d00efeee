//! Finds the methods of a file that make a task.

use std::collections::{BTreeMap, BTreeSet};

use rhumb_syntax::parse::parse;
use rhumb_syntax::{Language, is_generated};
use tree_sitter::{Node, Tree};

use crate::refactor::outline::{Class, Dialect, Method, Obstacle, Outline};
use crate::refactor::syntax_tree::{child, first_of, named, text, walk};
use crate::refactor::task::{Nodes, Task, instruction};

/// Why a method that is large enough, or a whole file, makes no task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A file that cannot be read as UTF-8.
    UnreadFile,
    /// A file that does not parse, or is too large.
    BrokenFile,
    /// A generated file.
    GeneratedFile,
    /// The method has no instance.
    NoInstance,
    /// The method uses its instance.
    Uses,
    /// A decorator, a trait or a base class requires the method in its class.
    Wanted,
    /// The method is at least half of its class.
    LargePart,
    /// The name of the method or of its class is not unique in the file.
    Ambiguous,
}

impl LeftOut {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::UnreadFile => "files that cannot be read as UTF-8",
            Self::BrokenFile => "files that do not parse",
            Self::GeneratedFile => "generated files",
            Self::NoInstance => "methods without an instance",
            Self::Uses => "methods that use their instance",
            Self::Wanted => "methods that something else requires in their class",
            Self::LargePart => "methods that are at least half of their class",
            Self::Ambiguous => "methods whose name or class name is not unique",
        }
    }
}

/// The result of scanning a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// The number of methods and files left out, by reason.
    pub left_out: BTreeMap<LeftOut, usize>,
}

/// A parsed source file.
pub(crate) struct ParsedFile<'s> {
    pub(crate) dialect: &'static Dialect,
    pub(crate) source: &'s str,
    tree: Tree,
}

impl<'s> ParsedFile<'s> {
    /// Parses a source. `None` if the benchmark does not support the language, or if the parser gives up.
    pub(crate) fn of(language: &str, source: &'s str) -> Option<Self> {
        let dialect = Dialect::of(language)?;
        let tree = parse(Language::by_name(language)?, source)?;
        Some(Self { dialect, source, tree })
    }

    /// Whether the source has no syntax errors.
    pub(crate) fn is_sound(&self) -> bool {
        !self.tree.root_node().has_error() && (self.dialect.is_sound)(self.tree.root_node())
    }

    /// The root of the syntax tree.
    #[cfg(test)]
    pub(crate) fn tree_root(&self) -> tree_sitter::Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn outline(&self) -> Outline<'_> {
        (self.dialect.outline)(self.tree.root_node(), self.source)
    }

    pub(crate) fn count(&self, node: tree_sitter::Node<'_>) -> usize {
        (self.dialect.count)(node, self.source)
    }

    /// The number of nodes of a parameter. A plain name is one node in every language.
    fn count_parameter(&self, node: tree_sitter::Node<'_>) -> usize {
        if node.kind() == "identifier" { 1 } else { self.count(node) }
    }

    /// The number of nodes that the calls of a method in its class lose when the method becomes a function: the instance in front of
    /// the name and the node that joins the two.
    fn count_calls(&self, class: &Class<'_>, method: &Method<'_>) -> usize {
        let calls = calls_of(class, method, self.source).into_iter();
        let calls = calls.filter(|call| call.through != call.name);
        calls.map(|call| self.count(call.whole).saturating_sub(self.count(call.name))).sum()
    }

    pub(crate) fn count_class(&self, class: &Class<'_>) -> usize {
        class.parts.iter().map(|part| self.count(*part)).sum()
    }
}

/// The tasks of the file `path`, relative to the scanned folder. Only methods with at least `min_nodes` syntax nodes are considered.
/// `None` for a file in an unsupported language.
pub fn scan(path: &str, source: &str, min_nodes: usize) -> Option<Scan> {
    let language = language_of(path, source)?;
    let mut scan = Scan::default();
    let reading = ParsedFile::of(language, source).filter(ParsedFile::is_sound);
    match reading {
        _ if is_generated(path, source) => *scan.left_out.entry(LeftOut::GeneratedFile).or_default() += 1,
        None => *scan.left_out.entry(LeftOut::BrokenFile).or_default() += 1,
        Some(reading) => scan_sound(path, &reading, min_nodes, &mut scan),
    }
    Some(scan)
}

/// As [`scan`], for the bytes of a file.
pub fn scan_bytes(path: &str, bytes: &[u8], min_nodes: usize) -> Option<Scan> {
    match std::str::from_utf8(bytes) {
        Ok(source) => scan(path, source, min_nodes),
        Err(_) => language_of(path, &String::from_utf8_lossy(bytes))
            .map(|_| Scan { tasks: Vec::new(), left_out: [(LeftOut::UnreadFile, 1)].into() }),
    }
}

/// The id of the language of a file, if the benchmark supports it. C++ headers are recognized by their content.
fn language_of(path: &str, source: &str) -> Option<&'static str> {
    let id = Language::detect(path, source)?.id;
    Dialect::of(id).map(|dialect| dialect.id)
}

fn scan_sound(path: &str, reading: &ParsedFile<'_>, min_nodes: usize, scan: &mut Scan) {
    let outline = reading.outline();
    let lineage = TypeHierarchy::of(reading.tree.root_node(), reading.source);
    for class in &outline.classes {
        let mut class_nodes = None;
        for method in &class.methods {
            let nodes = reading.count(method.node);
            if nodes < min_nodes {
                continue;
            }
            let whole = *class_nodes.get_or_insert_with(|| reading.count_class(class));
            match left_out((&outline, &lineage), class, method, nodes, whole) {
                Some(why) => *scan.left_out.entry(why).or_default() += 1,
                None => {
                    let instance = method.instance.map_or(0, |instance| reading.count_parameter(instance));
                    let calls = reading.count_calls(class, method);
                    let nodes = Nodes { method: nodes, class: whole, instance, calls };
                    scan.tasks.push(task(path, reading, class, method, nodes));
                }
            }
        }
    }
}

fn left_out(
    (outline, lineage): (&Outline<'_>, &TypeHierarchy<'_>),
    class: &Class<'_>,
    method: &Method<'_>,
    nodes: usize,
    whole: usize,
) -> Option<LeftOut> {
    let same_class = outline.classes.iter().filter(|other| other.name == class.name).count() > 1;
    let same_method = class.methods.iter().filter(|other| other.name == method.name).count() > 1;
    let taken = outline.functions.iter().any(|function| function.name == method.name && function.home.is_none());
    match method.obstacle {
        Some(Obstacle::NoInstance) => Some(LeftOut::NoInstance),
        Some(Obstacle::Uses) => Some(LeftOut::Uses),
        Some(Obstacle::Wanted) => Some(LeftOut::Wanted),
        None if lineage.shares(&class.name, &method.name) => Some(LeftOut::Wanted),
        None if 2 * nodes >= whole => Some(LeftOut::LargePart),
        None => (same_class || same_method || taken || class.name.is_empty()).then_some(LeftOut::Ambiguous),
    }
}

fn task(path: &str, reading: &ParsedFile<'_>, class: &Class<'_>, method: &Method<'_>, nodes: Nodes) -> Task {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().unwrap_or(file);
    let mut task = Task {
        id: format!("{stem}_{}_{}", class.name, method.name),
        language: reading.dialect.id.to_owned(),
        origin: path.to_owned(),
        file: file.to_owned(),
        class: class.name.clone(),
        method: method.name.clone(),
        home: reading.dialect.needs_home.then(|| format!("{}Functions", class.name)),
        instruction: String::new(),
        nodes,
    };
    task.instruction = instruction(&task);
    task
}

/// A call of a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'t> {
    /// The name with its instance: `self.name`, or the whole call if the grammar has one node for it.
    pub(crate) whole: Node<'t>,
    /// The instance, or the name itself.
    pub(crate) through: Node<'t>,
    /// The name of the method.
    pub(crate) name: Node<'t>,
}

/// The calls of a method in the other methods of its class.
pub(crate) fn calls_of<'t>(class: &Class<'t>, method: &Method<'t>, source: &str) -> Vec<Call<'t>> {
    let receivers: Vec<&str> = class.methods.iter().filter_map(|other| receiver(other, source)).collect();
    let own = |node: Node<'_>| {
        let text = text(node, source);
        matches!(text, "self" | "this") || receivers.contains(&text)
    };
    let nodes = class.parts.iter().flat_map(|part| walk(*part)).map(|step| step.node);
    let outside = nodes
        .filter(|node| node.start_byte() < method.node.start_byte() || node.start_byte() >= method.node.end_byte());
    let call = |whole: Node<'t>| {
        if !ACCESS.contains(&whole.kind()) {
            return None;
        }
        let name = ["attribute", "field", "property", "name"].into_iter().find_map(|field| child(whole, field))?;
        let through = whole.named_child(0)?;
        let meant = text(name, source) == method.name && (through == name || own(through));
        meant.then_some(Call { whole, through, name })
    };
    outside.filter_map(call).collect()
}

/// Kinds of nodes that access a member of an instance.
const ACCESS: [&str; 5] =
    ["attribute", "field_expression", "member_expression", "selector_expression", "method_invocation"];

/// The name of the receiver of a method, in Go.
fn receiver<'s>(method: &Method<'_>, source: &'s str) -> Option<&'s str> {
    let name = walk(method.instance?).find(|step| step.node.kind() == "identifier" && step.field == Some("name"))?;
    Some(text(name.node, source))
}

/// The types of a file with their bases and members. A method that a base class, an interface or a trait also declares, or that a
/// subtype overrides, is called through the other type and cannot leave its class. Other files are not considered, and only names are
/// compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct TypeHierarchy<'s> {
    types: Vec<Type<'s>>,
}

#[derive(Debug, Clone)]
struct Type<'s> {
    /// Empty for an anonymous class.
    name: &'s str,
    bases: BTreeSet<&'s str>,
    members: BTreeSet<&'s str>,
    /// Whether types implement it without naming it, as in Go.
    is_implicit: bool,
}

impl<'s> TypeHierarchy<'s> {
    pub(crate) fn of(root: Node<'_>, source: &'s str) -> Self {
        Self { types: walk(root).filter_map(|step| declared(step.node, source)).collect() }
    }

    /// Whether a supertype or subtype of `class` declares `method`.
    pub(crate) fn shares(&self, class: &str, method: &str) -> bool {
        let above = self.above(class);
        let is_kin = |of: &&Type<'_>| {
            of.is_implicit
                || (of.name != class && above.contains(of.name))
                || of.bases.iter().any(|base| *base == class || self.above(base).contains(class))
        };
        self.types.iter().filter(|of| of.members.contains(method)).any(|of| is_kin(&of))
    }

    /// The names of all supertypes of a type.
    fn above(&self, name: &str) -> BTreeSet<&'s str> {
        let mut above = BTreeSet::new();
        let bases = |of: &str| {
            let types = self.types.iter().filter(|one| !one.name.is_empty() && one.name == of);
            types.flat_map(|one| one.bases.iter().copied()).collect::<Vec<_>>()
        };
        let mut open = bases(name);
        while let Some(base) = open.pop() {
            if above.insert(base) {
                open.extend(bases(base));
            }
        }
        above
    }
}

/// Kinds of nodes that declare a type, in all supported grammars.
const TYPES: [&str; 13] = [
    "class_definition",
    "class_declaration",
    "abstract_class_declaration",
    "class",
    "interface_declaration",
    "type_alias_declaration",
    "record_declaration",
    "enum_declaration",
    "enum_constant",
    "object_creation_expression",
    "class_specifier",
    "struct_specifier",
    "interface_type",
];

/// Kinds of nodes that name supertypes.
const HERITAGE: [&str; 7] = [
    "argument_list", "class_heritage", "extends_type_clause", "superclass", "super_interfaces", "extends_interfaces",
    "base_class_clause",
];

fn declared<'s>(node: Node<'_>, source: &'s str) -> Option<Type<'s>> {
    if !TYPES.contains(&node.kind()) {
        return None;
    }
    let name = child(node, "name").map_or("", |name| text(name, source));
    let is_implicit = node.kind() == "interface_type";
    let body = match node.kind() {
        "interface_type" => node,
        "type_alias_declaration" => child(node, "value").filter(|value| value.kind() == "object_type")?,
        "object_creation_expression" => named(node).into_iter().find(|part| part.kind() == "class_body")?,
        _ => child(node, "body")?,
    };
    let heritage: Vec<Node<'_>> = match node.kind() {
        "object_creation_expression" => child(node, "type").into_iter().collect(),
        // A constant with a body is a subclass of its enumeration.
        "enum_constant" => {
            node.parent().and_then(|list| list.parent()).and_then(|of| child(of, "name")).into_iter().collect()
        }
        _ => named(node).into_iter().filter(|part| HERITAGE.contains(&part.kind())).collect(),
    };
    let names = |node: Node<'_>| {
        let names = walk(node).filter(|step| matches!(step.node.kind(), "identifier" | "type_identifier"));
        names.map(|step| text(step.node, source)).collect::<Vec<_>>()
    };
    let bases = heritage.into_iter().flat_map(names).collect();
    let name = if node.kind() == "enum_constant" { "" } else { name };
    Some(Type { name, bases, members: members(body, source), is_implicit })
}

/// The names that the body of a type declares.
fn members<'s>(body: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let inner = |member: Node<'_>| member.kind() == "enum_body_declarations";
    let all = named(body).into_iter().flat_map(|member| if inner(member) { named(member) } else { vec![member] });
    let name = |member: Node<'_>| {
        let member = child(member, "definition").unwrap_or(member);
        let assigned = named(member).first().copied().filter(|first| first.kind() == "assignment");
        let declarator = child(member, "declarator").and_then(|it| first_of(it, &["field_identifier", "identifier"]));
        let name = child(member, "name").or(declarator).or(assigned.and_then(|it| child(it, "left")));
        name.map(|name| text(name, source))
    };
    all.filter_map(name).collect()
}
