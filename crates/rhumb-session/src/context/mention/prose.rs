//! The prose of an answer, without edits and fenced code, whose file names are not mentions.

use rhumb_edit::{FormatChoice, parse};

/// The answer with edits and fenced code replaced by blanks. Byte offsets are preserved.
pub fn prose(answer: &str) -> String {
    let parsed = parse(answer, FormatChoice::Auto);
    let blocks: Vec<(usize, usize)> = parsed.edits.iter().map(|edit| edit.reply_lines).collect();
    let mut masked = String::with_capacity(answer.len());
    let mut fence: Option<&str> = None;
    for (at, line) in answer.split_inclusive('\n').enumerate() {
        let number = at + 1;
        let is_edit = blocks.iter().any(|(first, last)| (*first..=*last).contains(&number));
        let mark = fence_of(line);
        let is_code = match (fence, mark) {
            (Some(open), Some(close)) => {
                let rest = line.trim_start().trim_start_matches(['`', '~']).trim();
                if close.starts_with(open) && rest.is_empty() {
                    fence = None;
                }
                true
            }
            (Some(_), None) => true,
            (None, Some(open)) => {
                fence = Some(open);
                true
            }
            (None, None) => false,
        };
        if is_edit || is_code { masked.push_str(&blank(line)) } else { masked.push_str(line) }
    }
    masked
}

/// The fence that a line opens or closes: three or more backticks or tildes at its beginning, without a backtick after them.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

/// Blanks of the same length in bytes.
fn blank(line: &str) -> String {
    line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}
