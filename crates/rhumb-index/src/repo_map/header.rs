//! The line that shows a definition: its own line of the source wherever that is short enough, so that it can be found,
//! quoted and recognised; with the rest of the header where the header goes on over several lines.

/// Longest line that is shown as it is, in characters: a short body on the line of its header costs less than its absence.
const WHOLE: usize = 60;
/// Longest line that is looked at, in bytes. Longer ones are minified, and their signature is enough.
const LONGEST: usize = 1_024;
/// Words that may stand before the definition on its line: `export default async`, `pub(crate) unsafe`.
const WORDS_BEFORE: usize = 6;

/// The line for a definition with that `signature` whose name stands in that `line` of the source.
pub(crate) fn header(line: &str, signature: &str) -> String {
    let line = line.trim();
    let signature = signature.trim();
    if line.is_empty() || line.len() > LONGEST {
        return signature.to_owned();
    }
    if line.chars().count() <= WHOLE && (signature.is_empty() || !goes_on(line, signature)) {
        return line.to_owned();
    }
    if let Some((before, after)) = line.split_once(signature) {
        return format!("{before}{signature}{}", opening(after));
    }
    match start_of(line, signature) {
        Some(start) => format!("{}{signature}", line.get(..start).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// True when the signature holds more than the line does.
fn goes_on(line: &str, signature: &str) -> bool {
    !line.contains(signature) && start_of(line, signature).is_some()
}

/// What opens the body, if it comes next.
fn opening(after: &str) -> &str {
    const OPENERS: [&str; 6] = [" => {", " =>", " = {", " {", ":", ";"];
    OPENERS.iter().find(|opener| after.starts_with(**opener)).copied().unwrap_or_default()
}

/// Where in `line` the signature starts, if the line ends before the signature does. White space does not count.
fn start_of(line: &str, signature: &str) -> Option<usize> {
    let mut starts = vec![0];
    let after_space = line.char_indices().zip(line.chars().skip(1));
    starts.extend(
        after_space
            .filter(|((_, space), next)| *space == ' ' && *next != ' ')
            .map(|((at, _), _)| at + 1)
            .take(WORDS_BEFORE),
    );
    starts.into_iter().find(|&start| {
        let mut signature = signature.chars().filter(|c| !c.is_whitespace());
        let rest = line.get(start..).unwrap_or_default();
        !rest.is_empty() && rest.chars().filter(|c| !c.is_whitespace()).all(|c| signature.next() == Some(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_line_is_shown_as_it_stands() {
        assert_eq!(header("    def area(self):", "def area(self)"), "def area(self):");
        assert_eq!(header("pub struct P {", "pub struct P"), "pub struct P {");
        assert_eq!(header("export class A extends B {", "class A extends B"), "export class A extends B {");
        assert_eq!(header("fn f() -> u8 { 0 }", "fn f() -> u8"), "fn f() -> u8 { 0 }");
    }

    #[test]
    fn a_header_of_several_lines_is_joined_behind_what_precedes_it() {
        let signature = "function serve(root: string, port: number): Server";
        assert_eq!(
            header("export async function serve(", &format!("async {signature}")),
            format!("export async {signature}")
        );
        assert_eq!(header("function serve(", signature), signature);
    }

    #[test]
    fn a_long_line_loses_its_body() {
        let body = "x".repeat(80);
        assert_eq!(header(&format!("export const f = () => {{ {body} }}"), "const f = ()"), "export const f = () => {");
        assert_eq!(header(&body.repeat(100), "fn f()"), "fn f()");
    }

    #[test]
    fn a_line_that_says_something_else_stands_for_itself() {
        assert_eq!(header("foo(void)", "static int foo(void)"), "foo(void)");
        assert_eq!(header("", "fn f()"), "fn f()");
    }

    proptest! {
        #[test]
        fn any_line_has_a_header(line in "\\PC{0,90}", signature in "\\PC{0,40}") {
            let shown = header(&line, &signature);
            prop_assert!(!shown.contains('\n') || line.contains('\n') || signature.contains('\n'));
        }
    }
}
