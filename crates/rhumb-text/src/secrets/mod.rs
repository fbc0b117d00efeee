//! Keys in texts: what looks, to the letter, like a key of a service that gives its keys a form of their own. Nothing is guessed from
//! how random a text looks, so that what is found is worth a word.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The kinds of keys and their forms, as the services document them; where several begin alike, the longest form first.
const KINDS: &[(&str, &str)] = &[
    ("AWS access key", r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    (
        "AWS secret key",
        r#"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey)["']?\s?[:=]\s?["']?[A-Za-z0-9/+]{40}"#,
    ),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,300}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("GitLab token", r"gl(?:pat|dt|rt|ptt|ft|cbt|agent|soat)-[A-Za-z0-9_.-]{20,300}"),
    ("Anthropic key", r"sk-ant-[a-z]{3,6}[0-9]{2}-[A-Za-z0-9_-]{80,300}"),
    ("OpenRouter key", r"sk-or-v1-[0-9a-f]{64}"),
    ("OpenAI key", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,300}"),
    ("OpenAI key", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    ("Google API key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Google client secret", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    ("Google access token", r"ya29\.[A-Za-z0-9_-]{60,300}"),
    ("Slack token", r"xox[abeoprs]-[0-9A-Za-z-]{24,300}"),
    ("Slack token", r"xapp-[0-9]-[A-Z0-9]{8,300}-[0-9]{8,300}-[0-9a-f]{64}"),
    ("Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,300}/B[A-Z0-9]{6,300}/[A-Za-z0-9]{20,300}"),
    ("Discord webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,300}"),
    ("Stripe key", r"(?:sk|rk)_live_[A-Za-z0-9]{24,300}"),
    ("Stripe webhook secret", r"whsec_[A-Za-z0-9+/]{32,300}"),
    ("Twilio key", r"SK[0-9a-f]{32}"),
    ("SendGrid key", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("Mailgun key", r"key-[0-9a-f]{32}"),
    ("Mailchimp key", r"mc_[0-9a-f]{32}-us[0-9]{1,2}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,300}"),
    ("crates.io token", r"cio[A-Za-z0-9]{32}"),
    ("RubyGems key", r"rubygems_[0-9a-f]{48}"),
    ("Docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,300}"),
    ("Hugging Face token", r"hf_[A-Za-z]{34}"),
    ("DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,300}"),
    ("Vault token", r"hv[sb]\.[A-Za-z0-9_-]{24,300}"),
    ("New Relic key", r"NRAK-[A-Z0-9]{27}"),
    ("Databricks token", r"dapi[0-9a-f]{32}"),
    ("Linear key", r"lin_api_[A-Za-z0-9]{40}"),
    ("Notion token", r"ntn_[A-Za-z0-9]{43,300}"),
    ("Figma token", r"figd_[A-Za-z0-9_-]{40,300}"),
    ("Grafana token", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{52}"),
    ("xAI key", r"xai-[A-Za-z0-9]{80}"),
    ("Perplexity key", r"pplx-[A-Za-z0-9]{48}"),
    ("Replicate token", r"r8_[A-Za-z0-9]{37}"),
    ("Fly.io token", r"fm[12]_[A-Za-z0-9+/=_-]{100,300}"),
    ("Azure storage key", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("Atlassian token", r"ATATT3[A-Za-z0-9_=-]{180,300}"),
    ("Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Sentry token", r"sntry[su]_[A-Za-z0-9+/=_-]{60,300}"),
    ("Doppler token", r"dp\.(?:pt|st|ct)\.[A-Za-z0-9._-]{40,300}"),
    ("Netlify token", r"nfp_[A-Za-z0-9]{36,40}"),
    ("Supabase token", r"sbp_[0-9a-f]{40}"),
    ("PlanetScale token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,300}"),
    ("Tailscale key", r"tskey-(?:auth|api|client)-[A-Za-z0-9]{8,300}-[A-Za-z0-9]{20,300}"),
];

/// What a key block begins with, …
const BEGIN: &str = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----";
/// … how it ends, and what it is called.
const END: &str = "-----END";
const BLOCK: &str = "private key";

/// A key block is at most so long, in bytes.
const LONGEST_BLOCK: usize = 16 * 1024;
/// The first run of base64 in a key block has at least so many characters, and the last …
const LEAST_RUN: usize = 40;
const LEAST_END: usize = 8;
/// … and so many bytes may stand before the first, and between two.
const HEADERS: usize = 400;
const BETWEEN: usize = 24;

/// No more of a key is looked at than some 300 characters, for a text made to break this to take no time; a longer match goes on.
const LONGEST: usize = 300;

/// A key has at least so many different characters: what has fewer stands for one.
const LEAST_DIFFERENT: usize = 10;
/// What stands in examples, lower case.
const EXAMPLES: &[&str] = &["example", "xxxxx", "123456789", "abcdefgh", "your-", "your_", "aaaaaa", "000000", "dummy"];

/// So many of the last pieces may overlap with the next: those of one key block.
const NEAR: usize = LONGEST_BLOCK / LEAST_END;

/// So often a text is looked at again that had keys.
const MOST_ROUNDS: usize = 8;

/// What a mask ends with.
const MASK_END: &str = ", masked by rhumb]";

/// All forms as one, with the beginning of a key block.
static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms: Vec<&str> = KINDS.iter().map(|(_, form)| *form).collect();
    Regex::new(&format!(r"(?-u:\b)(?:{})|{BEGIN}", forms.join("|"))).ok()
});

/// Each form by itself, of a whole text.
static EACH: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let form = |(name, form): &(&'static str, &str)| Some((*name, Regex::new(&format!("^(?:{form})$")).ok()?));
    KINDS.iter().filter_map(form).collect()
});

/// Something that looks like a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What of: `GitHub token`.
    pub kind: &'static str,
    /// The line that it begins in, 1-based.
    pub line: usize,
}

/// A piece of a text that is not to be seen, and what stands for it.
struct Piece {
    range: Range<usize>,
    mask: String,
    /// Whether it is the first of its key.
    kind: Option<&'static str>,
}

/// What looks like keys in a text, in order.
pub fn secrets(text: &str) -> Vec<Secret> {
    let (mut line, mut counted) = (1, 0);
    let mut found = Vec::new();
    for piece in pieces(text) {
        let Some(kind) = piece.kind else { continue };
        line += text.get(counted..piece.range.start).unwrap_or_default().matches('\n').count();
        counted = piece.range.start;
        found.push(Secret { kind, line });
    }
    found
}

/// The text with what each key is in its place: `[GitHub token, masked by rhumb]`. It has as many lines as before, and masking it
/// once more changes nothing.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    // A key that reached into another shows when that is masked.
    for _ in 0..MOST_ROUNDS {
        let pieces = pieces(&masked);
        if pieces.is_empty() {
            break;
        }
        masked = Cow::Owned(with_masks(&masked, pieces));
    }
    masked
}

fn with_masks(text: &str, pieces: Vec<Piece>) -> String {
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for Piece { range, mask, .. } in pieces {
        masked.push_str(text.get(end..range.start).unwrap_or_default());
        masked.push_str(&mask);
        end = range.end;
    }
    masked.push_str(text.get(end..).unwrap_or_default());
    masked
}

/// Whether a text has such a mask in it.
pub fn has_mask(text: &str) -> bool {
    text.match_indices(MASK_END).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let name = before.rsplit_once('[').map_or("", |(_, name)| name);
        name.starts_with(BLOCK) || KINDS.iter().any(|(kind, _)| *kind == name)
    })
}

fn pieces(text: &str) -> Vec<Piece> {
    let Some(any) = ANY.as_ref() else { return Vec::new() };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut from = 0;
    while let Some(found) = any.find_at(text, from) {
        // A key may swallow the beginning of what follows it, and every form begins with a letter or a dash.
        from = found.start() + 1;
        let is_free = |range: &Range<usize>| {
            let beside = |piece: &Piece| piece.range.end <= range.start || range.end <= piece.range.start;
            pieces.iter().rev().take(NEAR).all(beside)
        };
        if found.as_str().starts_with("-----") {
            let block = block(text, found.end());
            let is_new = block.iter().all(|piece| is_free(&piece.range));
            pieces.extend(block.into_iter().filter(|_| is_new));
        } else if is_free(&found.range())
            && let Some(kind) = kind_of(text, &found.range())
        {
            pieces.push(Piece {
                range: whole(text, found.range()),
                mask: format!("[{kind}{MASK_END}"),
                kind: Some(kind),
            });
        }
    }
    pieces.sort_by_key(|piece| piece.range.start);
    pieces
}

/// A match with the rest of a key that is longer than is looked for.
fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = text.get(range.end..).unwrap_or_default();
    let more = rest.find(|c: char| !is_base64(c) && c != '_').unwrap_or(rest.len());
    range.start..range.end + if range.len() < LONGEST { 0 } else { more }
}

/// What a match is a key of, unless it is a part of a longer word, or an example.
fn kind_of(text: &str, range: &Range<usize>) -> Option<&'static str> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    let goes_on = is_word(bytes.get(range.end)) && range.end.checked_sub(1).is_some_and(|at| is_word(bytes.get(at)));
    let is_cut = goes_on && range.len() < LONGEST;
    if is_cut || range.start.checked_sub(1).is_some_and(|at| is_word(bytes.get(at))) {
        return None;
    }
    let key = text.get(range.clone())?;
    let lower = key.to_ascii_lowercase();
    let different: BTreeSet<u8> = lower.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if different.len() < LEAST_DIFFERENT || EXAMPLES.iter().any(|word| lower.contains(word)) {
        return None;
    }
    EACH.iter().find(|(_, form)| form.is_match(key)).map(|(kind, _)| *kind)
}

/// The pieces of the key block whose first line ends at `start`: each run of base64 with its number, so that no two lines look alike.
/// None if there is no key: a constant that says how such blocks begin is none.
fn block(text: &str, start: usize) -> Vec<Piece> {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find(END).filter(|end| *end <= LONGEST_BLOCK);
    let rest = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    // The last line of a block is short; where the end is not in sight, what is short may be anything.
    let least = if end.is_some() { LEAST_END } else { LEAST_RUN };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    for part in rest.split_inclusive(|c: char| !is_base64(c)) {
        let run = part.trim_end_matches(|c: char| !is_base64(c)).len();
        let (before, least, most) = runs.last().map_or((start, LEAST_RUN, HEADERS), |last| (last.end, least, BETWEEN));
        // What is far from the block, or behind one that is masked already, is none of it.
        if at - before > most || text.get(before..at).is_some_and(|between| between.contains(MASK_END)) {
            break;
        }
        if run >= least {
            runs.push(at..at + run);
        }
        at += part.len();
    }
    let piece = |(at, range): (usize, Range<usize>)| {
        let mask = format!("[{BLOCK} {}{MASK_END}", at + 1);
        Piece { range, mask, kind: (at == 0).then_some(BLOCK) }
    };
    runs.into_iter().enumerate().map(piece).collect()
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

#[cfg(test)]
mod tests;
