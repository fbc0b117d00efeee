//! Tests with one file in each language that has one task, moved correctly and incorrectly.

use std::collections::BTreeSet;
use std::process::Command;

use rhumb_edit::{EditFormat, Files, FormatChoice, parse, propose};

use super::*;
use crate::refactor::outline::Dialect;
use crate::refactor::scan::ParsedFile;
use crate::refactor::syntax_tree::walk;

/// A file in every language with one method that makes a task, and the name of that method.
const FILES: [(&str, &str, &str); 6] = [
    ("harbour.py", include_str!("../../tests/fixtures/refactor/harbour.py"), "summarize"),
    ("harbour.rs", include_str!("../../tests/fixtures/refactor/harbour.rs"), "summarize"),
    ("harbour.ts", include_str!("../../tests/fixtures/refactor/harbour.ts"), "summarize"),
    ("Harbour.java", include_str!("../../tests/fixtures/refactor/Harbour.java"), "summarize"),
    ("harbour.go", include_str!("../../tests/fixtures/refactor/harbour.go"), "Summarize"),
    ("harbour.cpp", include_str!("../../tests/fixtures/refactor/harbour.cpp"), "summarize"),
];

fn only_task(path: &str, source: &str) -> Task {
    let mut scan = scan(path, source, 100).unwrap();
    assert_eq!(scan.tasks.len(), 1, "{path}: {scan:?}");
    scan.tasks.remove(0)
}

fn each_task() -> impl Iterator<Item = (Task, &'static str)> {
    FILES.into_iter().map(|(path, source, _)| (only_task(path, source), source))
}

/// The checks that fail.
fn failing(grade: &Grade) -> Vec<Check> {
    Check::ALL.into_iter().filter(|check| grade.failed(*check)).collect()
}

#[test]
fn the_one_method_that_needs_nothing_of_its_instance_makes_a_task() {
    for (path, source, method) in FILES {
        let task = only_task(path, source);
        assert_eq!((task.class.as_str(), task.method.as_str()), ("Harbour", method), "{path}");
        assert!(task.nodes.method >= 100 && 2 * task.nodes.method < task.nodes.class, "{path}: {:?}", task.nodes);
        assert!(task.instruction.contains(method) && task.instruction.contains(path), "{}", task.instruction);
        assert!(scan(path, source, task.nodes.method + 1).unwrap().tasks.is_empty(), "{path}");
    }
    assert_eq!(scan("notes.md", "# Notes\n", 100), None);
}

#[test]
fn a_method_moved_as_asked_passes_in_every_language() {
    for (task, source) in each_task() {
        let text = Oracle::Perfect.text(&task, source).unwrap();
        let grade = grade(&task, source, &text);
        assert!(grade.passed() && !grade.elided(), "{}: {grade:?}\n{text}", task.language);
        for call in ["self.summarize", "this.summarize", "h.Summarize", "this->summarize", "harbour.Summarize"] {
            assert!(!text.contains(call), "{text}");
        }
    }
}

#[test]
fn every_way_to_cheat_is_caught_by_one_check_alone() {
    for (task, source) in each_task() {
        let fails = |how: Oracle, check: Check| {
            let text = how.text(&task, source).unwrap();
            let grade = grade(&task, source, &text);
            assert_eq!(failing(&grade), [check], "{} {}: {grade:?}\n{text}", task.language, how.name());
            grade
        };
        let lazy = fails(Oracle::Lazy, Check::Whole);
        assert!(lazy.elided() && lazy.placeholders == 1 && lazy.shortened, "{lazy:?}");
        fails(Oracle::Copy, Check::ClassShrank);
        assert!(!fails(Oracle::Broken, Check::Parses).elided());
    }
}

#[test]
fn a_function_that_is_not_at_the_top_level_is_not_there() {
    for (task, source) in each_task() {
        let perfect = Oracle::Perfect.text(&task, source).unwrap();
        let function = function_of(&task, &perfect);
        let hidden = perfect.replace(&function, &within(&task.language, &function));
        let grade = grade(&task, source, &hidden);
        assert_eq!(failing(&grade), [Check::AtTop], "{}: {grade:?}\n{hidden}", task.language);
    }
}

#[test]
fn a_class_that_is_gone_is_missed() {
    for (task, source) in each_task() {
        let perfect = Oracle::Perfect.text(&task, source).unwrap();
        // In Java the class of the function keeps its name.
        let renamed = perfect.replace("Harbour", "Port").replace("PortFunctions", "HarbourFunctions");
        let grade = grade(&task, source, &renamed);
        assert_eq!(failing(&grade), [Check::ClassStays], "{}: {grade:?}", task.language);
    }
}

#[test]
fn a_class_that_loses_more_than_the_method_is_missed_too() {
    for (task, source) in each_task() {
        let perfect = Oracle::Perfect.text(&task, source).unwrap();
        let shift = if task.language == "go" { "Shift" } else { "shift" };
        let reading = ParsedFile::of(&task.language, &perfect).unwrap();
        let outline = reading.outline();
        let class = outline.classes.iter().find(|class| class.name == task.class).unwrap();
        let other = class.methods.iter().find(|method| method.name == shift).unwrap();
        let less = format!("{}{}", &perfect[..other.node.start_byte()], &perfect[other.node.end_byte()..]);
        let grade = grade(&task, source, &less);
        assert_eq!(failing(&grade), [Check::ClassShrank], "{}: {grade:?}", task.language);
    }
}

/// The text of the moved function.
fn function_of(task: &Task, text: &str) -> String {
    let reading = ParsedFile::of(&task.language, text).unwrap();
    let outline = reading.outline();
    let function = outline.functions.iter().find(|it| it.name == task.method && it.home == task.home).unwrap();
    text[function.node.byte_range()].to_owned()
}

/// A function that is not at the top level.
fn within(language: &str, function: &str) -> String {
    let inner: String = function.lines().map(|line| format!("    {line}\n")).collect();
    match language {
        "python" => format!("def outer():\n{inner}"),
        "rust" => format!("mod inner {{\n{inner}}}"),
        "typescript" => format!("function outer() {{\n{inner}}}"),
        "java" => function.replace("static ", ""),
        "go" => format!("func outer() {{\n{}}}", inner.replace("func Summarize(", "_ = func(")),
        _ => format!("struct Outer {{\n{inner}}};"),
    }
}

#[test]
fn a_thin_method_that_calls_the_function_may_stay() {
    let (task, source) = each_task().next().unwrap();
    let text = Oracle::Perfect.text(&task, source).unwrap();
    let thin =
        "    def summarize(self, rows, unit=\"m\"):\n        return summarize(rows, unit)\n\n    def report(self):\n";
    let text = text.replace("    def report(self):\n", thin);
    assert!(grade(&task, source, &text).passed());
}

#[test]
fn a_class_that_calls_its_method_again_and_again_may_shrink_by_that_too() {
    let calls = "        self.summarize([])\n".repeat(60);
    let source = FILES[0].1.replace("        return len(self.rows)\n", &format!("{calls}        return 1\n"));
    let task = only_task("harbour.py", &source);
    assert_eq!((task.nodes.instance, task.nodes.calls), (1, 62 * 2), "two calls were there already");
    let text = Oracle::Perfect.text(&task, &source).unwrap();
    assert!(grade(&task, &source, &text).passed());
    assert!(grade(&task, &source, &Oracle::Copy.text(&task, &source).unwrap()).failed(Check::ClassShrank));
}

#[test]
fn python_that_is_badly_indented_does_not_parse() {
    let (task, source) = each_task().next().unwrap();
    let good = Oracle::Perfect.text(&task, source).unwrap();
    for (old, new) in [
        ("        self.offset = 0.0\n", "          self.offset = 0.0\n"),
        ("        self.offset = 0.0\n", "      self.offset = 0.0\n"),
        ("            return \"no water\"\n", ""),
        ("        return \"no water\"\n", "    return \"no water\"\n"),
        ("    harbour = Harbour(\"Vik\", [])\n", "harbour = Harbour(\"Vik\", [])\n"),
    ] {
        let text = good.replacen(old, new, 1);
        if text == good {
            continue;
        }
        assert!(grade(&task, source, &text).failed(Check::Parses), "{new:?}");
    }
    for fine in
        ["if True: a = 1; b = 2\n", "class A: pass\n", "x = (\n1,\n  2)\n", "if a:\n  b\nelse:\n      c\n      d\n"]
    {
        assert!(ParsedFile::of("python", fine).unwrap().is_sound(), "{fine}");
    }
}

/// A single file.
struct OneFile<'s>(&'s str, &'s str);

impl Files for OneFile<'_> {
    fn paths(&self) -> Vec<String> {
        vec![self.0.to_owned()]
    }

    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        Ok((path == self.0).then(|| self.1.to_owned()))
    }
}

#[test]
fn what_is_recited_is_applied_or_refused_as_it_should_be_in_every_format() {
    let formats = [EditFormat::Diff, EditFormat::DiffFenced, EditFormat::Udiff, EditFormat::Whole, EditFormat::Patch];
    for (task, source) in each_task() {
        for (format, how) in formats.iter().flat_map(|format| Oracle::ALL.map(|how| (*format, how))) {
            let reply = how.reply(&task, source, format).unwrap();
            let proposal = propose(&parse(&reply, FormatChoice::Auto), &OneFile(&task.file, source));
            let text = proposal.files.first().and_then(|file| file.proposed.clone());
            let graded = text.as_deref().map(|text| grade(&task, source, text));
            match how {
                // An edit that leaves code out may be refused.
                Oracle::Lazy => assert!(graded.is_none_or(|grade| !grade.passed()), "{} {format}", task.language),
                Oracle::Malformed => assert_eq!(text, None, "{} {format}:\n{reply}", task.language),
                _ => assert_eq!(
                    text.as_deref(),
                    how.text(&task, source).as_deref(),
                    "{} {format} {}:\n{reply}",
                    task.language,
                    how.name()
                ),
            }
        }
    }
}

#[test]
fn a_method_that_is_tied_to_its_class_makes_no_task() {
    let body = |line: &str, of: &str| of.replace("BODY", line);
    let cases: &[(&str, &str, &[&str], &str)] = &[
        (
            "a.py",
            "class A:\n    def other(self):\n        return 1\n    def last(self):\n        return 2\n    DECO\n    def m(self, x):\n        BODY\n        return x\n",
            &["self.y", "super().m()", "f(lambda: self)", "__class__"],
            "y = x.__class__('self')",
        ),
        (
            "a.rs",
            "struct A<T>(T);\nimpl<T> A<T> {\n    fn other(&self) -> u8 { 1 }\n    fn last(&self) -> u8 { 2 }\n    fn m(&self, x: u8) -> u8 { BODY; x }\n}\n",
            &["self.y()", "Self::f()", "dbg!(self)", "f::<T>()"],
            "\"self\"",
        ),
        (
            "a.ts",
            "class A<T> {\n  private y = 1;\n  other() { return 1 }\n  last() { return 2 }\n  m(x: number) { BODY; return x }\n}\n",
            &["this.y", "super.m()", "x.y", "let a: T"],
            "x.m",
        ),
        (
            "A.java",
            "class A<T> {\n  int y; enum E { P }\n  int other() { return 1; }\n  int last() { return 2; }\n  int m(int x) { BODY; return x; }\n}\n",
            &["y++", "other()", "this.y++", "T a", "E a = E.P", "hashCode()"],
            "Math.abs(x)",
        ),
        (
            "B.java",
            "class B extends A {\n  int other() { return 1; }\n  int last() { return 2; }\n  int m(int x) { BODY; return x; }\n}\n",
            &["z++", "other()", "int a = MAX"],
            "int a = Math.abs(x); for (int i : List.of(a)) { a += i; } java.util.function.IntUnaryOperator f = p -> p",
        ),
        (
            "a.go",
            "package a\ntype A struct { y int }\nfunc (a *A) Other() int { return 1 }\nfunc (a *A) Last() int { return 2 }\nfunc (a *A) M(x int) int { BODY; return x }\n",
            &["a.y++", "f(a)", "go func() { _ = a }()"],
            "x = b.a",
        ),
        (
            "a.cpp",
            "template<class T> class A {\n  int y; enum E { P };\n  int other() { return 1; }\n  int last() { return 2; }\n  int m(int x) { BODY; return x; }\n};\n",
            &["y++", "other()", "this->y++", "T a", "E a", "int a = P", "m(1)"],
            "std::abs(x); g(x)",
        ),
        (
            "b.cpp",
            "class B : public A {\n  int other() { return 1; }\n  int last() { return 2; }\n  int m(int x) { BODY; return x; }\n};\n",
            &["z++", "g(x)"],
            "int a = std::abs(x); for (auto& b : std::list(a)) { a += b; } auto [c, d] = f::g(a)",
        ),
    ];
    for (path, class, uses, free) in cases {
        let plain = class.replace("    DECO\n", "");
        for line in *uses {
            let scan = scan(path, &body(line, &plain), 1).unwrap();
            assert!(scan.tasks.iter().all(|task| !task.method.eq_ignore_ascii_case("m")), "{path}: {line}");
            assert!(!scan.left_out.contains_key(&LeftOut::BrokenFile), "{path}: {line}");
        }
        let scan = scan(path, &body(free, &plain), 1).unwrap();
        let methods: BTreeSet<String> = scan.tasks.iter().map(|task| task.method.to_lowercase()).collect();
        let large = scan.left_out.get(&LeftOut::LargePart).copied().unwrap_or_default();
        assert!(methods.contains("m") || large == 1, "{path}: {scan:?}");
    }
}

#[test]
fn what_else_wants_a_method_keeps_it() {
    let rest = "    def a(self):\n        self.x = [1, 2, 3, 4, 5, 6, 7]\n";
    let class = |method: &str| format!("class A:\n{rest}{method}");
    let left_out = |path: &str, source: &str| scan(path, source, 3).unwrap().left_out;
    let python = |method: &str| left_out("a.py", &class(method)).into_keys().collect::<Vec<_>>();
    assert_eq!(python("    @property\n    def m(self):\n        return 1\n"), [LeftOut::Uses, LeftOut::Wanted]);
    assert_eq!(python("    def __len__(self):\n        return 1\n"), [LeftOut::Uses, LeftOut::Wanted]);
    assert_eq!(python("    @staticmethod\n    def m(x):\n        return 1\n"), [LeftOut::NoInstance, LeftOut::Uses]);
    let twice = "    def m(self):\n        return 1\n    def m(self):\n        return 2\n";
    assert_eq!(python(twice), [LeftOut::Uses, LeftOut::Ambiguous]);
    assert_eq!(left_out("a.py", "class A:\n  def (\n").into_keys().collect::<Vec<_>>(), [LeftOut::BrokenFile]);
    let rust = "struct A { x: u8, y: u8 }\nimpl D for A {\n    fn m(&self) -> u8 { 1 + 2 }\n}\n";
    assert_eq!(left_out("a.rs", rust).into_keys().collect::<Vec<_>>(), [LeftOut::Wanted]);
    let java = "class A { int x = 1 + 2 + 3 + 4; @Override public int m() { return 1 + 2; } }\n";
    assert_eq!(left_out("A.java", java).into_keys().collect::<Vec<_>>(), [LeftOut::Wanted]);
    let cpp = "class A { int x = 1 + 2 + 3; virtual int m() { return 1; } int n() override { return 2; } };\n";
    assert_eq!(left_out("a.cpp", cpp), [(LeftOut::Wanted, 2)].into());
}

/// Why the only method `m` of a source makes no task, apart from its size.
fn keeps(path: &str, source: &str) -> Option<LeftOut> {
    let scan = scan(path, source, 4).unwrap();
    assert!(scan.tasks.len() + scan.left_out.values().sum::<usize>() == 1, "{source}: {scan:?}");
    scan.left_out.into_keys().find(|why| *why != LeftOut::LargePart)
}

#[test]
fn what_a_method_needs_of_its_surroundings_keeps_it() {
    let python = |head: &str, body: &str| {
        format!(
            "LIMIT = 2\nT = int\n\n\nclass A:\n    MOST = 1\n    class In: pass\n    def {head}:\n        return {body}\n"
        )
    };
    for (head, body) in [
        ("m(self, a, b=MOST)", "a + b"),
        ("m(self, a, *, b=lambda: MOST)", "a + b"),
        ("m(self, a: In, b: T)", "a + b"),
        ("m(self, a, b) -> list[In]", "a + b"),
        ("__m(self, a, b)", "a + b"),
        ("m(self, a, b)", "a.__depth + b"),
        ("m(self, a, __b)", "a + 1"),
    ] {
        assert_eq!(keeps("a.py", &python(head, body)), Some(LeftOut::Uses), "{head} {body}");
    }
    for (head, body) in
        [("m(self, a: T, b=LIMIT) -> T", "a + b"), ("m(self, MOST)", "MOST + 1"), ("m(self, a)", "a.__len__() + MOST")]
    {
        assert_eq!(keeps("a.py", &python(head, body)), None, "{head} {body}");
    }
    let within = "def f(x):\n    y = x\n    class A:\n        def m(self, a):\n            return a + NAME\n";
    assert_eq!(keeps("a.py", &within.replace("NAME", "y").replace("def f(x)", "def f()")), Some(LeftOut::Uses));
    assert_eq!(keeps("a.py", &within.replace("NAME", "z").replace("def f(x)", "def f()")), None);
    let within = "function f(x: number) {\n  class A { m(a: number) { return a + x } }\n}\n";
    assert_eq!(keeps("a.ts", within), Some(LeftOut::Uses));

    let rust = |text: &str| {
        format!(
            "struct A<const N: usize>;\nimpl<const N: usize> A<N> {{\n    fn m(&self, n: u8) {{ println!({text}); }}\n}}\n"
        )
    };
    for text in ["\"{self:?}\"", "\"{n:self$}\"", "r#\"{self}\"#", "\"{N}\""] {
        assert_eq!(keeps("a.rs", &rust(text)), Some(LeftOut::Uses), "{text}");
    }
    assert_eq!(keeps("a.rs", &rust("\"self {n} N: {}\", n")), None);

    let java = |head: &str| format!("class A {{\n  {head} int m(int x) {{ return x + 1; }}\n}}\n");
    assert_eq!(keeps("A.java", &java("public synchronized")), Some(LeftOut::Uses));
    assert_eq!(keeps("A.java", &java("@Test public")), Some(LeftOut::Wanted));
    assert_eq!(keeps("A.java", &java("@SuppressWarnings(\"x\") public")), None);
}

#[test]
fn a_method_that_types_of_the_file_share_stays() {
    for (path, source) in [
        ("a.py", "class I:\n    NAME = None\nclass A(I):\n    def m(self, a):\n        return a + 1\n"),
        (
            "b.py",
            "class I:\n    NAME: int = 1\nclass J(I):\n    pass\nclass A(J):\n    def m(self, a):\n        return a + 1\n",
        ),
        ("c.py", "class A:\n    def m(self, a):\n        return a + 1\nclass B(A):\n    NAME = 1\n"),
        ("a.ts", "interface I { NAME(): number }\nclass A implements I { m(a: number) { return a + 1 } }\n"),
        ("b.ts", "abstract class I { abstract NAME: any }\nclass A extends I { m(a: number) { return a + 1 } }\n"),
        ("c.ts", "type I = { NAME(): number }\nclass A implements I { m(a: number) { return a + 1 } }\n"),
        ("A.java", "interface I { int NAME(); }\nclass A implements I { int m(int a) { return a + 1; } }\n"),
        (
            "B.java",
            "class A { int m(int a) { return a + 1; } }\nclass B { A a = new A() { int NAME() { return 1; } }; }\n",
        ),
        ("a.go", "package a\ntype I interface { NAME() }\ntype A struct{}\nfunc (a A) m(b int) int { return b + 1 }\n"),
        ("a.cpp", "struct I { int NAME(); };\nstruct A : I { int m(int a) { return a + 1; } };\n"),
        ("b.cpp", "struct A { int m(int a) { return a + 1; } };\nstruct B : A { int NAME(); };\n"),
    ] {
        assert_eq!(keeps(path, &source.replace("NAME", "m")), Some(LeftOut::Wanted), "{path}");
        assert_eq!(keeps(path, &source.replace("NAME", "other")), None, "{path}");
    }
    let apart = "class I:\n    m = None\nclass A:\n    def m(self, a):\n        return a + 1\n";
    assert_eq!(keeps("a.py", apart), None);
}

#[test]
fn what_python_refuses_does_not_parse() {
    let refused = [
        "print \"hi\"\n",
        "exec \"x\"\n",
        "raise E, \"x\"\n",
        "try:\n    x\nelse:\n    y\n",
        "a <> b\n",
        "def f(x=1, y): pass\n",
        "def f(/, a): pass\n",
        "def f(a, *, /): pass\n",
        "def f(a, *): pass\n",
        "def f(*, **k): pass\n",
        "def f(*a, *b): pass\n",
        "def f(**k, a): pass\n",
        "lambda x=1, y: 0\n",
        "f(a=1, 2)\n",
        "f(**k, 2)\n",
        "f(**k, *a)\n",
        "class A(metaclass=M, B): pass\n",
    ];
    let fine = [
        "print(\"hi\")\n",
        "print >>f, \"hi\"\n",
        "exec(\"x\")\n",
        "raise E(\"x\") from e\n",
        "try:\n    x\nfinally:\n    y\n",
        "try:\n    x\nexcept* E:\n    y\n",
        "def f(a, b=1, /, c=2, *d, e, f=3, **g): pass\n",
        "def f(a, /, *, b: int = 1, c): pass\n",
        "def f(*a: int, b): pass\n",
        "lambda x, y=1, *z: 0\n",
        "f(1, *a, b=1, *c, **k, d=2)\n",
        "f(x for x in y)\n",
        "class A(B, metaclass=M): pass\n",
    ];
    let sound = |text: &str| ParsedFile::of("python", text).unwrap().is_sound();
    let python = |text: &str| {
        let output =
            Command::new("python3").args(["-c", "import sys; compile(sys.argv[1], 'a', 'exec')", text]).output();
        output.ok().filter(|output| output.status.success() || !output.stderr.is_empty())
    };
    for (text, is_fine) in refused.iter().map(|text| (text, false)).chain(fine.iter().map(|text| (text, true))) {
        assert_eq!(sound(text), is_fine, "{text}");
        match python(text) {
            Some(output) => assert_eq!(output.status.success(), is_fine, "Python itself: {text}"),
            None => eprintln!("skipped: there is no python3"),
        }
    }
}

#[test]
fn parameters_that_only_stand_by_place_are_recited_as_such() {
    let class = "class A:\n    def a(self):\n        return [1, 2, 3, 4, 5, 6]\n    def m(self, PARAMETERS):\n        return 1 + 2\n";
    for (before, after) in [("/, a, b", "a, b"), ("/", ""), ("a, /, b", "a, /, b"), ("*, b", "*, b")] {
        let source = class.replace("PARAMETERS", before);
        let mut scan = scan("a.py", &source, 4).unwrap();
        let task = scan.tasks.pop().unwrap();
        let text = Oracle::Perfect.text(&task, &source).unwrap();
        assert!(text.contains(&format!("\ndef m({after}):\n")), "{text}");
        assert!(grade(&task, &source, &text).passed(), "{text}");
    }
}

#[test]
fn tasks_come_back_from_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut tasks = Tasks::default();
    for (path, source, _) in FILES {
        tasks.add(scan(path, source, 100).unwrap().tasks, source);
    }
    assert_eq!(tasks.all.iter().map(|(task, _)| &task.id).collect::<BTreeSet<_>>().len(), FILES.len());
    tasks.write(folder.path()).unwrap();
    assert_eq!(Tasks::read(folder.path()).unwrap(), tasks);
    let list = folder.path().join("tasks.jsonl");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text.replacen("\"file\":\"harbour.py\"", "\"file\":\"../harbour.py\"", 1)).unwrap();
    assert!(matches!(Tasks::read(folder.path()), Err(TaskError::Name { .. })));
    std::fs::write(&list, format!("{text}{{}}\n")).unwrap();
    assert!(Tasks::read(folder.path()).unwrap_err().to_string().contains("line 7"));
}

/// Prints the number of nodes of every function of the given files, as `path line nodes`.
const ORACLE: &str = "import ast, sys
for path in sys.argv[1:]:
    try:
        tree = ast.parse(open(path, encoding='utf-8').read())
    except Exception:
        continue
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            nodes = sum(1 for _ in ast.walk(node)) - sum(1 for d in node.decorator_list for _ in ast.walk(d))
            print(path, node.lineno, nodes)
";

#[test]
fn python_nodes_are_counted_as_python_counts_them() {
    let library =
        Command::new("python3").args(["-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]).output();
    let Some(library) = library.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let library = String::from_utf8(library.stdout).unwrap();
    let names = "argparse ast cgi calendar configparser csv dataclasses datetime difflib doctest enum fractions ftplib functools \
                 gettext inspect ipaddress locale mailbox optparse pathlib pdb pickle plistlib random shutil statistics \
                 subprocess tarfile textwrap threading tokenize traceback typing unittest/mock urllib/parse uuid zipfile";
    let paths = names.split_whitespace().map(|name| format!("{}/{name}.py", library.trim()));
    let paths: Vec<String> = paths.filter(|path| std::path::Path::new(path).is_file()).collect();
    let told = Command::new("python3").args(["-c", ORACLE]).args(&paths).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let (mut right, mut wrong) = (0usize, Vec::new());
    for path in &paths {
        let source = std::fs::read_to_string(path).unwrap();
        let Some(reading) = ParsedFile::of("python", &source) else { continue };
        let mut lines = std::collections::BTreeMap::new();
        let prefix = format!("{path} ");
        for line in told.lines().filter_map(|line| line.strip_prefix(&prefix)) {
            let (line, nodes) = line.split_once(' ').unwrap();
            lines.insert(line.parse::<usize>().unwrap(), nodes.parse::<usize>().unwrap());
        }
        for step in walk(reading.tree_root()).filter(|step| step.node.kind() == "function_definition") {
            let (line, nodes) = (step.node.start_position().row + 1, reading.count(step.node));
            match lines.get(&line) {
                Some(wanted) if *wanted == nodes => right += 1,
                wanted => wrong.push(format!("{path}:{line}: {nodes} instead of {wanted:?}")),
            }
        }
    }
    let share = right as f64 / (right + wrong.len()) as f64;
    assert!(right > 1_000 && share > 0.999, "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_dialect_has_a_grammar() {
    for id in ["python", "rust", "typescript", "tsx", "java", "go", "cpp"] {
        assert!(Dialect::of(id).is_some() && ParsedFile::of(id, "\n").is_some(), "{id}");
    }
}
