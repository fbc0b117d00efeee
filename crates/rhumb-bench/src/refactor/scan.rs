//! Which methods of a file make a task.

use std::collections::BTreeMap;

use tree_sitter::Tree;

use super::calls::calls_of;
use super::lineage::Lineage;
use super::outline::{Class, Dialect, Method, Outline, Tie};
use super::task::{Nodes, Task, instruction};
use rhumb_syntax::parse::parse;
use rhumb_syntax::{Language, is_generated};

/// Why a method that is large enough makes no task, or a file none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A file that cannot be read as UTF-8.
    UnreadFile,
    /// A file that does not parse, or is larger than what is parsed.
    BrokenFile,
    /// A file that a tool made.
    GeneratedFile,
    /// The method belongs to no instance.
    NoInstance,
    /// It uses its instance.
    Uses,
    /// A decorator, a trait or a base class wants it where it is.
    Wanted,
    /// It is half of its class or more.
    LargePart,
    /// Its name, or that of its class, means several things in the file.
    Ambiguous,
}

impl LeftOut {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::UnreadFile => "files that cannot be read as UTF-8",
            Self::BrokenFile => "files that do not parse",
            Self::GeneratedFile => "files that a tool made",
            Self::NoInstance => "methods without an instance",
            Self::Uses => "methods that use their instance",
            Self::Wanted => "methods that something else wants where they are",
            Self::LargePart => "methods that are half of their class or more",
            Self::Ambiguous => "methods whose name, or that of their class, is not the only one",
        }
    }
}

/// What a file gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Its tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// What was left out of the methods that are large enough, by why.
    pub left_out: BTreeMap<LeftOut, usize>,
}

/// A source that was parsed.
pub(super) struct Reading<'s> {
    pub(super) dialect: &'static Dialect,
    pub(super) source: &'s str,
    tree: Tree,
}

impl<'s> Reading<'s> {
    /// Reads a source in the language of that id; nothing where the benchmark does not know it, or the parser gave up.
    pub(super) fn of(language: &str, source: &'s str) -> Option<Self> {
        let dialect = Dialect::of(language)?;
        let tree = parse(Language::by_name(language)?, source)?;
        Some(Self { dialect, source, tree })
    }

    /// Whether it is free of syntax errors.
    pub(super) fn is_sound(&self) -> bool {
        !self.tree.root_node().has_error() && (self.dialect.is_sound)(self.tree.root_node())
    }

    /// The whole tree.
    #[cfg(test)]
    pub(super) fn tree_root(&self) -> tree_sitter::Node<'_> {
        self.tree.root_node()
    }

    pub(super) fn outline(&self) -> Outline<'_> {
        (self.dialect.outline)(self.tree.root_node(), self.source)
    }

    pub(super) fn count(&self, node: tree_sitter::Node<'_>) -> usize {
        (self.dialect.count)(node, self.source)
    }

    /// A parameter that is only a name is one node, by whatever measure.
    fn count_parameter(&self, node: tree_sitter::Node<'_>) -> usize {
        if node.kind() == "identifier" { 1 } else { self.count(node) }
    }

    /// Nodes that the calls of a method in its class lose when it becomes a function: what stands before the name, and what joins the
    /// two.
    fn count_calls(&self, class: &Class<'_>, method: &Method<'_>) -> usize {
        let calls = calls_of(class, method, self.source).into_iter();
        let calls = calls.filter(|call| call.through != call.name);
        calls.map(|call| self.count(call.whole).saturating_sub(self.count(call.name))).sum()
    }

    pub(super) fn count_class(&self, class: &Class<'_>) -> usize {
        class.parts.iter().map(|part| self.count(*part)).sum()
    }
}

/// The tasks of the file `path` below the scanned folder. Only methods of `min_nodes` syntax nodes or more are looked at.
/// Nothing for a file in another language.
pub fn scan(path: &str, source: &str, min_nodes: usize) -> Option<Scan> {
    let language = language_of(path, source)?;
    let mut scan = Scan::default();
    let reading = Reading::of(language, source).filter(Reading::is_sound);
    match reading {
        _ if is_generated(path, source) => *scan.left_out.entry(LeftOut::GeneratedFile).or_default() += 1,
        None => *scan.left_out.entry(LeftOut::BrokenFile).or_default() += 1,
        Some(reading) => scan_sound(path, &reading, min_nodes, &mut scan),
    }
    Some(scan)
}

/// What a file of these bytes gives: as [`scan`], where they are text.
pub fn scan_bytes(path: &str, bytes: &[u8], min_nodes: usize) -> Option<Scan> {
    match std::str::from_utf8(bytes) {
        Ok(source) => scan(path, source, min_nodes),
        Err(_) => language_of(path, &String::from_utf8_lossy(bytes))
            .map(|_| Scan { tasks: Vec::new(), left_out: [(LeftOut::UnreadFile, 1)].into() }),
    }
}

/// The id of the language of a file, if the benchmark knows it. Headers are read as C++, if they are that.
fn language_of(path: &str, source: &str) -> Option<&'static str> {
    let id = Language::detect(path, source)?.id;
    Dialect::of(id).map(|dialect| dialect.id)
}

fn scan_sound(path: &str, reading: &Reading<'_>, min_nodes: usize, scan: &mut Scan) {
    let outline = reading.outline();
    let lineage = Lineage::of(reading.tree.root_node(), reading.source);
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
    (outline, lineage): (&Outline<'_>, &Lineage<'_>),
    class: &Class<'_>,
    method: &Method<'_>,
    nodes: usize,
    whole: usize,
) -> Option<LeftOut> {
    let same_class = outline.classes.iter().filter(|other| other.name == class.name).count() > 1;
    let same_method = class.methods.iter().filter(|other| other.name == method.name).count() > 1;
    let taken = outline.functions.iter().any(|function| function.name == method.name && function.home.is_none());
    match method.tie {
        Some(Tie::NoInstance) => Some(LeftOut::NoInstance),
        Some(Tie::Uses) => Some(LeftOut::Uses),
        Some(Tie::Wanted) => Some(LeftOut::Wanted),
        None if lineage.shares(&class.name, &method.name) => Some(LeftOut::Wanted),
        None if 2 * nodes >= whole => Some(LeftOut::LargePart),
        None => (same_class || same_method || taken || class.name.is_empty()).then_some(LeftOut::Ambiguous),
    }
}

fn task(path: &str, reading: &Reading<'_>, class: &Class<'_>, method: &Method<'_>, nodes: Nodes) -> Task {
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
