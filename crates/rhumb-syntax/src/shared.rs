//! Extensions that several languages share: there the text decides.

use super::language::{Language, file_name};

/// So much of a text is looked at, in bytes: what tells the languages apart comes early.
const LOOKED_AT: usize = 16 << 10;

/// The language that a text shows, where the extension of its path could stand for others, too.
pub(super) fn told_by_text(path: &str, text: &str) -> Option<&'static Language> {
    let extension = file_name(path).rsplit_once('.')?.1;
    let head = text.get(..text.floor_char_boundary(LOOKED_AT))?;
    let id = match extension {
        "h" | "H" if is_objective_c(head) => "objc",
        "h" | "H" if is_cpp(head) => "cpp",
        "m" if is_matlab(head) => "matlab",
        _ => return None,
    };
    Language::all().find(|language| language.id == id)
}

/// Words at the beginning of a line, or a name space, that C has not.
fn is_cpp(text: &str) -> bool {
    const STARTS: [&str; 10] = [
        "constexpr ",
        "namespace ",
        "private:",
        "protected:",
        "public:",
        "template <",
        "template<",
        "typename ",
        "using namespace ",
        "virtual ",
    ];
    text.lines().map(str::trim).any(|line| {
        let class =
            line.strip_prefix("class ").is_some_and(|rest| rest.ends_with(['{', ';', ':']) || !rest.contains(' '));
        let comment = line.starts_with(['*', '/']);
        class || STARTS.iter().any(|start| line.starts_with(start)) || (!comment && line.contains("std::"))
    })
}

fn is_objective_c(text: &str) -> bool {
    const STARTS: [&str; 4] = ["#import ", "@class ", "@interface ", "@protocol "];
    text.lines().any(|line| STARTS.iter().any(|start| line.starts_with(start)))
}

/// MATLAB begins with a comment, a function or a class; none of these begins anything in Objective-C.
fn is_matlab(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    first.starts_with('%') || ["function ", "classdef "].iter().any(|start| first.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_in_the_language_that_they_show() {
        let of = |path: &str, text: &str| Language::detect(path, text).map(|language| language.id);
        assert_eq!(of("a.h", "#ifndef A\n/* class of service */\nint open_gate(int how);\n"), Some("c"));
        assert_eq!(of("a.h", "namespace a {\nclass Gate;\n}\n"), Some("cpp"));
        assert_eq!(of("a.h", "  class Gate : public Door {\n"), Some("cpp"));
        assert_eq!(of("a.h", "std::string name();\n"), Some("cpp"));
        assert_eq!(of("a.h", " * std::string in a comment\nint a;\n"), Some("c"));
        assert_eq!(of("a.c", "namespace a {"), Some("c"));
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn extensions_of_objective_c_are_shared() {
        let of = |path: &str, text: &str| Language::detect(path, text).map(|language| language.id);
        assert_eq!(of("a.h", "#import <Foundation/Foundation.h>\n@interface Gate\n@end\n"), Some("objc"));
        assert_eq!(of("a.m", "#import \"a.h\"\n"), Some("objc"));
        assert_eq!(of("a.m", "\n% Opens the gate.\nfunction gate()\n"), Some("matlab"));
    }
}
