//! Small tasks that an agent loop solves: each with a failing test, a wrong edit, a test run, and the right edit.

#![allow(clippy::print_stderr)] // skipped tests are reported

use serde_json::json as object;

use super::agent::{agent_command, run_agent, runs_commands};
use super::support::exercise::steps;
use super::support::wire::{Answer, Api};
use super::*;

/// A task. Its file has `fault`, which becomes `wrong` and then `right`.
struct Exercise {
    path: &'static str,
    text: &'static str,
    fault: &'static str,
    wrong: &'static str,
    right: &'static str,
    /// Further files.
    others: &'static [(&'static str, &'static str)],
    /// The command of the test, with `{}` for the interpreter or compiler.
    test: &'static str,
}

const PYTHON: [Exercise; 6] = [
    Exercise {
        path: "leap.py",
        text: "def is_leap(year):\n    return year % 4 == 0\n",
        fault: "    return year % 4 == 0\n",
        wrong: "    return year % 4 == 0 and year % 100 != 0\n",
        right: "    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
        others: &[(
            "test_leap.py",
            "from leap import is_leap\nassert is_leap(2000) and is_leap(2024)\nassert not is_leap(1900)\n",
        )],
        test: "{} -B test_leap.py",
    },
    Exercise {
        path: "anagram.py",
        text: "def is_anagram(one, other):\n    return one == other\n",
        fault: "    return one == other\n",
        wrong: "    return set(one) == set(other)\n",
        right: "    return sorted(one.lower()) == sorted(other.lower())\n",
        others: &[(
            "test_anagram.py",
            "from anagram import is_anagram\nassert is_anagram('Listen', 'silent')\nassert not is_anagram('aab', 'abb')\n",
        )],
        test: "{} -B test_anagram.py",
    },
    Exercise {
        path: "roman.py",
        text: "NUMERALS = [(10, 'X'), (5, 'V'), (1, 'I')]\n\n\ndef roman(number):\n    text = ''\n    for value, numeral in NUMERALS:\n        while number >= value:\n            text += numeral\n            number -= value\n    return text\n",
        fault: "NUMERALS = [(10, 'X'), (5, 'V'), (1, 'I')]\n",
        wrong: "NUMERALS = [(10, 'X'), (5, 'V'), (4, 'IV'), (1, 'I')]\n",
        right: "NUMERALS = [(10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]\n",
        others: &[(
            "test_roman.py",
            "from roman import roman\nassert [roman(n) for n in (4, 9, 14)] == ['IV', 'IX', 'XIV'], roman(9)\n",
        )],
        test: "{} -B test_roman.py",
    },
    Exercise {
        path: "queue_of.py",
        text: "class Queue:\n    def __init__(self, items=[]):\n        self.items = items\n\n    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()\n",
        fault: "        return self.items.pop()\n",
        wrong: "        return self.items.pop(1)\n",
        right: "        return self.items.pop(0)\n",
        others: &[(
            "test_queue.py",
            "from queue_of import Queue\nq = Queue()\nq.push(1)\nq.push(2)\nassert q.pop() == 1\n",
        )],
        test: "{} -B test_queue.py",
    },
    Exercise {
        path: "chunks.py",
        text: "def chunks(items, size):\n    return [items[at:size] for at in range(0, len(items), size)]\n",
        fault: "items[at:size]",
        wrong: "items[at:at + size - 1]",
        right: "items[at:at + size]",
        others: &[(
            "test_chunks.py",
            "from chunks import chunks\nassert chunks([1, 2, 3], 2) == [[1, 2], [3]], chunks([1, 2, 3], 2)\n",
        )],
        test: "{} -B test_chunks.py",
    },
    Exercise {
        path: "größe.py",
        text: "def gro\u{308}ße(text):\r\n    return len(text)\r\n",
        fault: "    return len(text)\r\n",
        wrong: "    return len(text.encode('latin-1'))\r\n",
        right: "    return len(text.encode('utf-8'))\r\n",
        others: &[(
            "test_size.py",
            "import importlib\nmodule = importlib.import_module('größe')\nassert getattr(module, 'gr\\u00f6\\u00dfe')('ß') == 2\n",
        )],
        test: "{} -B test_size.py",
    },
];

const JAVASCRIPT: [Exercise; 5] = [
    Exercise {
        path: "clamp.js",
        text: "exports.clamp = (value, low, high) => Math.max(value, high);\n",
        fault: "Math.max(value, high)",
        wrong: "Math.min(value, high)",
        right: "Math.max(low, Math.min(value, high))",
        others: &[(
            "test.js",
            "const { clamp } = require('./clamp');\nif (clamp(-1, 0, 5) !== 0 || clamp(9, 0, 5) !== 5) throw new Error('clamp');\n",
        )],
        test: "{} test.js",
    },
    Exercise {
        path: "src/slug.js",
        text: "exports.slug = text => text.replace(' ', '-');\n",
        fault: "text.replace(' ', '-')",
        wrong: "text.toLowerCase().replace(' ', '-')",
        right: "text.toLowerCase().replace(/ +/g, '-')",
        others: &[(
            "test/slug.test.js",
            "const assert = require('node:assert');\nconst { slug } = require('../src/slug');\nassert.strictEqual(slug('A  Fair Wind'), 'a-fair-wind');\n",
        )],
        test: "{} test/slug.test.js",
    },
    Exercise {
        path: "sum.mjs",
        text: "export function sum(numbers) {\n  let total;\n  for (const number of numbers) total += number;\n  return total;\n}\n",
        fault: "  let total;\n",
        wrong: "  let total = '';\n",
        right: "  let total = 0;\n",
        others: &[(
            "test.mjs",
            "import assert from 'node:assert';\nimport { sum } from './sum.mjs';\nassert.strictEqual(sum([1, 2]), 3);\n",
        )],
        test: "{} test.mjs",
    },
    Exercise {
        path: "sort.js",
        text: "exports.byNumber = numbers => [...numbers].sort();\n",
        fault: ".sort()",
        wrong: ".sort((a, b) => a < b)",
        right: ".sort((a, b) => a - b)",
        others: &[(
            "test.js",
            "const assert = require('node:assert');\nassert.deepStrictEqual(require('./sort').byNumber([10, 9, 1]), [1, 9, 10]);\n",
        )],
        test: "{} test.js",
    },
    Exercise {
        path: "range.js",
        text: "exports.range = function* (end) {\n  for (let at = 1; at < end; at++) yield at;\n};\n",
        fault: "let at = 1; at < end",
        wrong: "let at = 0; at <= end",
        right: "let at = 0; at < end",
        others: &[(
            "test.js",
            "const assert = require('node:assert');\nassert.deepStrictEqual([...require('./range').range(3)], [0, 1, 2]);\n",
        )],
        test: "{} test.js",
    },
];

const RUST: [Exercise; 3] = [
    Exercise {
        path: "tide.rs",
        text: "fn tide(hour: u32) -> u32 {\n    hour % 6\n}\n\n#[test]\nfn the_tide_falls_after_six_hours() {\n    assert_eq!([tide(1), tide(7), tide(13)], [1, 5, 1]);\n}\n",
        fault: "    hour % 6\n",
        wrong: "    hour % 12\n",
        right: "    let half = hour % 12;\n    if half < 6 { half } else { 12 - half }\n",
        others: &[(".gitignore", "test\n")],
        test: "{} --test -C debuginfo=0 -o test tide.rs && ./test",
    },
    Exercise {
        path: "parse.rs",
        text: "fn port(text: &str) -> u16 {\n    text\n}\n\n#[test]\nfn a_port_is_a_number() {\n    assert_eq!((port(\" 80 \"), port(\"x\")), (80, 0));\n}\n",
        fault: "    text\n",
        wrong: "    text.parse().unwrap()\n",
        right: "    text.trim().parse().unwrap_or(0)\n",
        others: &[(".gitignore", "test\n")],
        test: "{} --test -C debuginfo=0 -o test parse.rs && ./test",
    },
    Exercise {
        path: "src/lib.rs",
        text: "mod words;\n\n#[test]\nfn the_longest_word_is_found() {\n    assert_eq!(words::longest(\"a fair wind\"), Some(\"fair\"));\n}\n",
        fault: "Some(\"fair\")",
        wrong: "Some(\"a\")",
        right: "Some(\"wind\")",
        others: &[
            (".gitignore", "test\n"),
            (
                "src/words.rs",
                "pub fn longest(text: &str) -> Option<&str> {\n    text.split(' ').max_by_key(|word| word.len())\n}\n",
            ),
        ],
        test: "{} --test -C debuginfo=0 -o test src/lib.rs && ./test",
    },
];

const GO: [Exercise; 3] = [
    Exercise {
        path: "abs.go",
        text: "package main\n\nfunc abs(x int) int {\n\treturn x\n}\n",
        fault: "\treturn x\n",
        wrong: "\treturn -x\n",
        right: "\tif x < 0 {\n\t\treturn -x\n\t}\n\treturn x\n",
        others: &[
            ("go.mod", "module abs\n\ngo 1.18\n"),
            (".gitignore", ".cache\n"),
            (
                "main.go",
                "package main\n\nfunc main() {\n\tif abs(-1) != 1 || abs(2) != 2 {\n\t\tpanic(\"abs\")\n\t}\n}\n",
            ),
        ],
        test: "GOCACHE=$PWD/.cache GOPATH=$PWD/.cache {} run .",
    },
    Exercise {
        path: "reverse.go",
        text: "package main\n\nfunc reverse(s string) string {\n\treturn s\n}\n",
        fault: "\treturn s\n",
        wrong: "\tb := []byte(s)\n\tfor i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {\n\t\tb[i], b[j] = b[j], b[i]\n\t}\n\treturn string(b)\n",
        right: "\tb := []rune(s)\n\tfor i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {\n\t\tb[i], b[j] = b[j], b[i]\n\t}\n\treturn string(b)\n",
        others: &[
            ("go.mod", "module reverse\n\ngo 1.18\n"),
            (".gitignore", ".cache\n"),
            (
                "main.go",
                "package main\n\nfunc main() {\n\tif reverse(\"aé\") != \"éa\" {\n\t\tpanic(\"reverse\")\n\t}\n}\n",
            ),
        ],
        test: "GOCACHE=$PWD/.cache GOPATH=$PWD/.cache {} run .",
    },
    Exercise {
        path: "fizz.go",
        text: "package main\n\nfunc fizz(n int) string {\n\treturn \"\"\n}\n",
        fault: "\treturn \"\"\n",
        wrong: "\treturn \"fizz\"\n",
        right: "\tif n%3 == 0 {\n\t\treturn \"fizz\"\n\t}\n\treturn \"\"\n",
        others: &[
            ("go.mod", "module fizz\n\ngo 1.18\n"),
            (".gitignore", ".cache\n"),
            (
                "main.go",
                "package main\n\nfunc main() {\n\tif fizz(3) != \"fizz\" || fizz(4) != \"\" {\n\t\tpanic(\"fizz\")\n\t}\n}\n",
            ),
        ],
        test: "GOCACHE=$PWD/.cache GOPATH=$PWD/.cache {} run .",
    },
];

const SHELL: [Exercise; 6] = [
    Exercise {
        path: "count.sh",
        text: "count() {\n    echo 1\n}\n",
        fault: "    echo 1\n",
        wrong: "    echo $1\n",
        right: "    echo $#\n",
        others: &[("test.sh", ". ./count.sh\ntest \"$(count a b c)\" = 3\n")],
        test: "{} test.sh",
    },
    Exercise {
        path: "lib/quote.sh",
        text: "copy() {\n    for name in $@; do echo \"$name\"; done\n}\n",
        fault: "in $@;",
        wrong: "in \"$*\";",
        right: "in \"$@\";",
        others: &[("test.sh", ". lib/quote.sh\ntest \"$(copy 'a b' c | wc -l)\" -eq 2\n")],
        test: "{} test.sh",
    },
    Exercise {
        path: "backup.sh",
        text: "#!/bin/sh\nset -e\ncp \"$1\" \"$1\"\n",
        fault: "cp \"$1\" \"$1\"\n",
        wrong: "mv \"$1\" \"$1.bak\"\n",
        right: "cp \"$1\" \"$1.bak\"\n",
        others: &[(
            "test.sh",
            "rm -f data.bak\n{ echo x > data; sh backup.sh data; } && test -f data && test -f data.bak\n",
        )],
        test: "{} test.sh",
    },
    Exercise {
        path: "upper.sh",
        text: "tr a-z a-z\n",
        fault: "tr a-z a-z\n",
        wrong: "tr A-Z a-z\n",
        right: "tr a-z A-Z\n",
        others: &[("test.sh", "test \"$(echo wind | sh upper.sh)\" = WIND\n")],
        test: "{} test.sh",
    },
    Exercise {
        path: "Makefile",
        text: "out: in\n\tcat in in > out\n\ncheck: out\n\tcmp in out\n",
        fault: "\tcat in in > out\n",
        wrong: "\tcat in >> out; echo >> out\n",
        right: "\tcat in > out\n",
        others: &[("in", "fair winds\n"), (".gitignore", "out\n")],
        test: "rm -f out; make -s check",
    },
    Exercise {
        path: "build/rules.mk",
        text: "VERSION = $(shell cat VERSION)x\n",
        fault: "$(shell cat VERSION)x\n",
        wrong: "v$(shell cat VERSION)\n",
        right: "$(shell cat VERSION)\n",
        others: &[("VERSION", "1.2\n"), ("Makefile", "include build/rules.mk\ncheck:\n\ttest \"$(VERSION)\" = 1.2\n")],
        test: "make -s check",
    },
];

/// Solves each exercise, in one format after the other.
fn solve(exercises: &[Exercise], program: &str) {
    for (number, exercise) in exercises.iter().enumerate() {
        let Exercise { path, text, fault, wrong, right, others, test } = exercise;
        let repo = TestRepo::new();
        repo.file(path, text);
        for (path, text) in *others {
            repo.file(path, text);
        }
        repo.commit("Start");
        let test = test.replace("{}", program);
        let edit = |search: &str, replace: &str| {
            Answer::calls([("edit", object!({"path": path, "search": search, "replace": replace}))])
        };
        let run = || Answer::calls([("run", object!({"command": test}))]);
        let script = || {
            steps([
                Answer::calls([("list_files", object!({})), ("read_file", object!({"path": path}))]),
                run(),
                edit(fault, wrong),
                run(),
                edit(wrong, right),
                run(),
                Answer::text("Done."),
            ])
        };
        let api = Api::ALL[number % Api::ALL.len()];
        let (dry, write) = (&["--json", "--dry-run"][..], &["--json", "--yes", "--no-commit"][..]);
        for flags in if number == 0 { vec![dry, write] } else { vec![write] } {
            let server = ModelServer::start(script());
            let ran = run_agent(agent_command(&repo, &server, api, flags));
            assert_eq!(ran.code, 0, "{path}: {}{}", ran.out, ran.err);
            let succeeded: Vec<bool> = ran.results().into_iter().map(|(ok, _)| ok).collect();
            assert_eq!(succeeded, [true, true, false, true, false, true, true], "{path}: {:#?}", ran.results());
            if flags.contains(&"--dry-run") {
                assert!(ran.of("written").is_empty());
                untouched(&repo);
            }
        }
        assert_eq!(repo.read(path), text.replace(fault, right), "{path}");
        let changed = repo.git(&["-c", "core.quotePath=false", "status", "--porcelain"]);
        assert_eq!(changed, format!(" M {path}\n"), "nothing else changed");
    }
}

/// The path of a program, without a script that chooses its version by the home folder.
fn program(name: &str, args: &[&str]) -> Option<String> {
    let output = std::process::Command::new(name).args(args).output().ok().filter(|output| output.status.success());
    let Some(output) = output else {
        eprintln!("SKIPPED: there is no {name} here");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn exercises_in_python_are_solved() {
    if runs_commands()
        && let Some(python) = program("python3", &["-c", "import sys; print(sys.executable)"])
    {
        solve(&PYTHON, &python);
    }
}

#[test]
fn exercises_in_javascript_are_solved() {
    if runs_commands()
        && let Some(node) = program("node", &["-p", "process.execPath"])
    {
        solve(&JAVASCRIPT, &node);
    }
}

#[test]
fn exercises_in_rust_are_solved() {
    if runs_commands()
        && let Some(sysroot) = program("rustc", &["--print", "sysroot"])
    {
        solve(&RUST, &format!("{sysroot}/bin/rustc"));
    }
}

#[test]
fn exercises_in_go_are_solved() {
    if runs_commands()
        && let Some(root) = program("go", &["env", "GOROOT"])
    {
        solve(&GO, &format!("{root}/bin/go"));
    }
}

#[test]
fn exercises_with_scripts_and_makefiles_are_solved() {
    if runs_commands() && program("make", &["--version"]).is_some() {
        solve(&SHELL, "sh");
    }
}
