//! API keys and private keys in texts, found by the documented key forms of about 50 services, and masked.
//!
//! Nothing is guessed from entropy, so that a report is almost always a real key.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The kinds of keys and their forms (regular expressions), from the services' documentation. Where several forms share a
/// prefix, the longest is first.
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

/// The first line of a private key block (PEM, OpenPGP).
const BLOCK_BEGIN: &str = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----";
/// The start of its last line.
const BLOCK_END: &str = "-----END";
/// The kind of a key block.
const BLOCK_KIND: &str = "private key";

/// Maximum size of a key block, in bytes.
const MAX_BLOCK_BYTES: usize = 16 * 1024;
/// Minimum length in bytes of the first run of base64 in a key block, and of every run if the end is missing.
const MIN_BASE64_RUN: usize = 40;
/// Minimum length in bytes of the other runs of a complete block. The last line can be short.
const MIN_LAST_RUN: usize = 8;
/// Maximum distance in bytes from the first line to the first run: space for headers.
const MAX_HEADER_BYTES: usize = 400;
/// Maximum distance in bytes between two runs: line ends, indentation, line numbers.
const MAX_GAP_BYTES: usize = 24;

/// Maximum number of bytes of a key that the forms match, which bounds the time on adversarial input. The rest of a longer
/// key is masked by [`extended`].
const MAX_MATCH_BYTES: usize = 300;

/// Minimum number of different letters and digits in a key. Placeholders have fewer.
const MIN_DISTINCT: usize = 10;
/// Substrings of placeholders in documentation, in lower case.
const PLACEHOLDERS: &[&str] =
    &["example", "xxxxx", "123456789", "abcdefgh", "your-", "your_", "aaaaaa", "000000", "dummy"];

/// Number of earlier masks that a new one is compared with. A block has at most this many.
const MAX_OVERLAPS: usize = MAX_BLOCK_BYTES / MIN_LAST_RUN;

/// Maximum number of passes over a text that has keys.
const MAX_PASSES: usize = 8;

/// The end of a mask.
const MASK_END: &str = ", masked by rhumb]";

/// All forms and the first line of a key block, as one expression.
static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms: Vec<&str> = KINDS.iter().map(|(_, form)| *form).collect();
    Regex::new(&format!(r"(?-u:\b)(?:{})|{BLOCK_BEGIN}", forms.join("|"))).ok()
});

/// Each form as an anchored expression.
static EACH: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let form = |(name, form): &(&'static str, &str)| Some((*name, Regex::new(&format!("^(?:{form})$")).ok()?));
    KINDS.iter().filter_map(form).collect()
});

/// A text that has the form of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The kind of key, for example `GitHub token`.
    pub kind: &'static str,
    /// The line in which it starts, 1-based.
    pub line: usize,
}

/// A byte range to hide and its replacement.
struct Mask {
    range: Range<usize>,
    text: String,
    /// The kind of key, for the first mask of a key.
    kind: Option<&'static str>,
}

/// Finds the keys in a text, in order.
pub fn secrets(text: &str) -> Vec<Secret> {
    let (mut line, mut counted) = (1, 0);
    let mut found = Vec::new();
    for mask in masks(text) {
        let Some(kind) = mask.kind else { continue };
        line += text.get(counted..mask.range.start).unwrap_or_default().matches('\n').count();
        counted = mask.range.start;
        found.push(Secret { kind, line });
    }
    found
}

/// Replaces each key by its kind: `[GitHub token, masked by rhumb]`. The number of lines stays the same. Masking is
/// idempotent.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    // Masking a key can reveal the form of another one that overlapped with it.
    for _ in 0..MAX_PASSES {
        let masks = masks(&masked);
        if masks.is_empty() {
            break;
        }
        masked = Cow::Owned(with_masks(&masked, masks));
    }
    masked
}

fn with_masks(text: &str, masks: Vec<Mask>) -> String {
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for Mask { range, text: mask, .. } in masks {
        masked.push_str(text.get(end..range.start).unwrap_or_default());
        masked.push_str(&mask);
        end = range.end;
    }
    masked.push_str(text.get(end..).unwrap_or_default());
    masked
}

/// Whether a text contains a mask of [`masked`].
pub fn has_mask(text: &str) -> bool {
    text.match_indices(MASK_END).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let name = before.rsplit_once('[').map_or("", |(_, name)| name);
        name.starts_with(BLOCK_KIND) || KINDS.iter().any(|(kind, _)| *kind == name)
    })
}

fn masks(text: &str) -> Vec<Mask> {
    let Some(any) = ANY.as_ref() else { return Vec::new() };
    let mut masks: Vec<Mask> = Vec::new();
    let mut from = 0;
    while let Some(found) = any.find_at(text, from) {
        // Continue inside of the match: it may include the start of the next key. Every form starts with a letter or a dash.
        from = found.start() + 1;
        let is_free = |range: &Range<usize>| {
            let disjoint = |mask: &Mask| mask.range.end <= range.start || range.end <= mask.range.start;
            masks.iter().rev().take(MAX_OVERLAPS).all(disjoint)
        };
        if found.as_str().starts_with("-----") {
            let block = block_masks(text, found.end());
            let is_new = block.iter().all(|mask| is_free(&mask.range));
            masks.extend(block.into_iter().filter(|_| is_new));
        } else if is_free(&found.range())
            && let Some(kind) = kind_of(text, &found.range())
        {
            let range = extended(text, found.range());
            masks.push(Mask { range, text: format!("[{kind}{MASK_END}"), kind: Some(kind) });
        }
    }
    masks.sort_by_key(|mask| mask.range.start);
    masks
}

/// Extends a match of [`MAX_MATCH_BYTES`] to the end of the key.
fn extended(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = text.get(range.end..).unwrap_or_default();
    let more = rest.find(|c: char| !is_base64(c) && c != '_').unwrap_or(rest.len());
    range.start..range.end + if range.len() < MAX_MATCH_BYTES { 0 } else { more }
}

/// The kind of key at `range`; `None` if the match is a part of a longer word or a placeholder.
fn kind_of(text: &str, range: &Range<usize>) -> Option<&'static str> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    let goes_on = is_word(bytes.get(range.end)) && range.end.checked_sub(1).is_some_and(|at| is_word(bytes.get(at)));
    let is_cut = goes_on && range.len() < MAX_MATCH_BYTES;
    if is_cut || range.start.checked_sub(1).is_some_and(|at| is_word(bytes.get(at))) {
        return None;
    }
    let key = text.get(range.clone())?;
    let lower = key.to_ascii_lowercase();
    let distinct: BTreeSet<u8> = lower.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if distinct.len() < MIN_DISTINCT || PLACEHOLDERS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    EACH.iter().find(|(_, form)| form.is_match(key)).map(|(kind, _)| *kind)
}

/// The masks of the key block whose first line ends at byte `start`. Each run of base64 gets a number, so that all masked
/// lines differ. Empty if no key follows, for example after a string constant with the first line.
fn block_masks(text: &str, start: usize) -> Vec<Mask> {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find(BLOCK_END).filter(|end| *end <= MAX_BLOCK_BYTES);
    let rest = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    // The last line of a block may be short. Without an end, a short run may be ordinary text.
    let min_run = if end.is_some() { MIN_LAST_RUN } else { MIN_BASE64_RUN };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    for part in rest.split_inclusive(|c: char| !is_base64(c)) {
        let run = part.trim_end_matches(|c: char| !is_base64(c)).len();
        let (before, min_run, max_gap) = match runs.last() {
            None => (start, MIN_BASE64_RUN, MAX_HEADER_BYTES),
            Some(last) => (last.end, min_run, MAX_GAP_BYTES),
        };
        // A distant run is not a part of the block, nor is one after a mask.
        if at - before > max_gap || text.get(before..at).is_some_and(|between| between.contains(MASK_END)) {
            break;
        }
        if run >= min_run {
            runs.push(at..at + run);
        }
        at += part.len();
    }
    let mask = |(at, range): (usize, Range<usize>)| {
        let text = format!("[{BLOCK_KIND} {}{MASK_END}", at + 1);
        Mask { range, text, kind: (at == 0).then_some(BLOCK_KIND) }
    };
    runs.into_iter().enumerate().map(mask).collect()
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    // The keys are generated, so that no file of this repository contains one.

    use proptest::prelude::*;

    use super::*;

    const LETTERS: &str = "Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeUgAiOuEoWyQaZxSvDrFtGhNkPmBjYl";
    const HEX: &str = "7f3a9c51e0d84b26af93c7158e2d6b40913fca75d28e6b04c1f7a39e5d80b264f7c91a3e5d80b264";

    /// `count` characters of an alphabet, starting at `from` and repeating it.
    fn body(alphabet: &str, from: usize, count: usize) -> String {
        alphabet.chars().cycle().skip(from).take(count).collect()
    }

    /// A key of every kind.
    fn keys() -> Vec<(&'static str, String)> {
        let letters = |count| body(LETTERS, 0, count);
        let hex = |count| body(HEX, 0, count);
        let upper = |count| {
            LETTERS.to_uppercase().chars().filter(char::is_ascii_uppercase).cycle().take(count).collect::<String>()
        };
        let alpha = |count| LETTERS.chars().filter(char::is_ascii_alphabetic).cycle().take(count).collect::<String>();
        vec![
            ("AWS access key", format!("AKIA{}", upper(16))),
            ("AWS secret key", format!("aws_secret_access_key = {}", letters(40))),
            ("GitHub token", format!("ghp_{}", letters(36))),
            ("GitHub token", format!("github_pat_{}_{}", letters(22), letters(59))),
            ("GitLab token", format!("glpat-{}", letters(20))),
            ("Anthropic key", format!("sk-ant-api03-{}", letters(93))),
            ("OpenRouter key", format!("sk-or-v1-{}", hex(64))),
            ("OpenAI key", format!("sk-proj-{}", letters(64))),
            ("OpenAI key", format!("sk-{}T3BlbkFJ{}", letters(20), letters(20))),
            ("Google API key", format!("AIza{}", letters(35))),
            ("Google client secret", format!("GOCSPX-{}", letters(28))),
            ("Google access token", format!("ya29.{}", letters(64))),
            ("Slack token", format!("xoxb-71392846573-{}", letters(24))),
            ("Slack token", format!("xapp-1-{}-71392846573-{}", upper(11), hex(64))),
            ("Slack webhook", format!("hooks.slack.com/services/T{}/B{}/{}", upper(9), upper(9), letters(24))),
            ("Discord webhook", format!("discord.com/api/webhooks/713928465731928465/{}", letters(68))),
            ("Stripe key", format!("sk_live_{}", letters(24))),
            ("Stripe webhook secret", format!("whsec_{}", letters(32))),
            ("Twilio key", format!("SK{}", hex(32))),
            ("SendGrid key", format!("SG.{}.{}", letters(22), letters(43))),
            ("Mailgun key", format!("key-{}", hex(32))),
            ("Mailchimp key", format!("mc_{}-us12", hex(32))),
            ("npm token", format!("npm_{}", letters(36))),
            ("PyPI token", format!("pypi-AgEIcHlwaS5vcmc{}", letters(60))),
            ("crates.io token", format!("cio{}", letters(32))),
            ("RubyGems key", format!("rubygems_{}", hex(48))),
            ("Docker token", format!("dckr_pat_{}", letters(27))),
            ("Hugging Face token", format!("hf_{}", alpha(34))),
            ("DigitalOcean token", format!("dop_v1_{}", hex(64))),
            ("Shopify token", format!("shpat_{}", hex(32))),
            ("Square token", format!("sq0atp-{}", letters(22))),
            ("Vault token", format!("hvs.{}", letters(24))),
            ("New Relic key", format!("NRAK-{}", upper(27))),
            ("Databricks token", format!("dapi{}", hex(32))),
            ("Linear key", format!("lin_api_{}", letters(40))),
            ("Notion token", format!("ntn_{}", letters(46))),
            ("Figma token", format!("figd_{}", letters(40))),
            ("Grafana token", format!("glsa_{}_{}", letters(32), hex(8))),
            ("Groq key", format!("gsk_{}", letters(52))),
            ("xAI key", format!("xai-{}", letters(80))),
            ("Perplexity key", format!("pplx-{}", letters(48))),
            ("Replicate token", format!("r8_{}", letters(37))),
            ("Fly.io token", format!("fm2_{}", letters(120))),
            ("Azure storage key", format!("AccountKey={}==", letters(86))),
            ("age secret key", format!("AGE-SECRET-KEY-1{}", upper(58))),
            ("Atlassian token", format!("ATATT3{}", letters(186))),
            ("Postman key", format!("PMAK-{}-{}", hex(24), hex(34))),
            ("Sentry token", format!("sntryu_{}", hex(64))),
            ("Doppler token", format!("dp.pt.{}", letters(43))),
            ("Netlify token", format!("nfp_{}", letters(36))),
            ("Supabase token", format!("sbp_{}", hex(40))),
            ("PlanetScale token", format!("pscale_tkn_{}", letters(43))),
            ("Tailscale key", format!("tskey-auth-{}-{}", letters(12), letters(32))),
        ]
    }

    /// A private key block with `lines` full lines of base64.
    fn pem(lines: usize) -> String {
        let line = |at| body(LETTERS, at, 64) + "\n";
        format!(
            "-----BEGIN RSA {}-----\n{}{}=\n-----END RSA {}-----\n",
            "PRIVATE KEY",
            (0..lines).map(line).collect::<String>(),
            body(LETTERS, 3, 19),
            "PRIVATE KEY"
        )
    }

    #[test]
    fn a_key_of_every_kind_is_found_with_its_line_and_masked() {
        let kinds: BTreeSet<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(keys().iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>(), kinds, "each kind has an example");
        for (kind, key) in keys() {
            for (before, after) in
                [("one\nKEY=\"", "\"\nthree"), ("one\n", "\n"), ("one\nurl?k=", "&x=1"), ("one\n  2│ ", "")]
            {
                let text = format!("{before}{key}{after}");
                assert_eq!(secrets(&text), [Secret { kind, line: 2 }], "{text}");
                let masked = masked(&text);
                assert_eq!(masked, format!("{before}[{kind}, masked by rhumb]{after}"));
                assert!(has_mask(&masked) && !has_mask(&text));
            }
            assert!(secrets(&format!("x{key}")).is_empty() || key.contains(['.', '=']), "{key} as the end of a word");
        }
    }

    #[test]
    fn a_key_block_keeps_its_lines_and_all_masks_differ() {
        let text = format!("a\n{}b\n", pem(12));
        assert_eq!(secrets(&text), [Secret { kind: "private key", line: 2 + 1 }]);
        let masked = masked(&text);
        assert_eq!(masked.lines().count(), text.lines().count());
        let lines: BTreeSet<&str> = masked.lines().collect();
        assert_eq!(lines.len(), masked.lines().count(), "{masked}");
        assert!(
            masked.contains("\n[private key 12, masked by rhumb]\n[private key 13, masked by rhumb]\n-----END RSA"),
            "{masked}"
        );
        assert!(!masked.contains(&body(LETTERS, 3, 12)), "{masked}");
        let cut = &text[..text.len() - 100];
        assert!(!super::masked(cut).contains(&body(LETTERS, 3, 12)), "an incomplete block is masked, too");
        let escaped = pem(3).replace('\n', "\\n");
        assert!(!super::masked(&format!("\"key\": \"{escaped}\"")).contains(&body(LETTERS, 3, 12)));
        let numbered: String = pem(3).lines().enumerate().map(|(at, line)| format!("{at:>5}│ {line}\n")).collect();
        assert!(!super::masked(&numbered).contains(&body(LETTERS, 3, 12)));
    }

    #[test]
    fn a_key_does_not_hide_the_one_that_follows() {
        let [one, other] = [&keys()[5].1, &keys()[2].1];
        let text = format!("{one}{}", pem(3));
        assert_eq!(
            secrets(&text).iter().map(|secret| secret.kind).collect::<Vec<_>>(),
            ["Anthropic key", "private key"]
        );
        assert!(!masked(&text).contains(&body(LETTERS, 3, 12)), "{}", masked(&text));
        let begin = format!("-----BEGIN {}-----\n", "PRIVATE KEY");
        let text = format!("{begin}{other} {one}{}", pem(3));
        assert!(!masked(&text).contains(&body(LETTERS, 3, 12)), "{}", masked(&text));
        let long = format!("sk-proj-{}", body(LETTERS, 0, 2_000));
        assert_eq!(masked(&format!("k = '{long}'")), "k = '[OpenAI key, masked by rhumb]'");
    }

    /// The search is linear in adversarial texts. Restarting at every byte would take an hour.
    #[test]
    fn a_text_that_starts_a_key_everywhere_takes_linear_time() {
        for part in ["sk-proj-", "sk-proj-Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5-----BEGIN ", "-----BEGIN PRIVATE KEY-----"] {
            let text = part.repeat(200_000 / part.len());
            assert!(masked(&text).lines().count() == 1, "{part}");
        }
    }

    #[test]
    fn placeholders_and_similar_words_are_not_keys() {
        let x = |count| "x".repeat(count);
        for text in [
            format!("ghp_{}", x(36)),
            format!("sk-proj-{}", x(48)),
            format!("AKIAIOSFODNN7{}", "EXAMPLE"),
            "OPENAI_API_KEY=sk-...".into(),
            "risk-proj-management-of-the-harbour-and-its-long-piers".into(),
            "task-ant-api03".into(),
            "let BEGIN = \"-----BEGIN PRIVATE KEY-----\";\nlet END = \"-----END PRIVATE KEY-----\";".into(),
            "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwKq7Zp2\n-----END PUBLIC KEY-----"
                .into(),
            body(HEX, 0, 40),
            format!("sha256:{}", body(HEX, 0, 64)),
            String::new(),
        ] {
            assert_eq!(secrets(&text), [], "{text}");
            assert!(matches!(masked(&text), Cow::Borrowed(_)));
        }
        assert!(!has_mask("MASK_END: &str = \", masked by rhumb]\""));
    }

    /// A user who works on this repository must get no false reports.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test reads files of this repository")]
    fn nothing_in_our_own_repository_looks_like_a_key() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders: Vec<_> =
            ["src", "crates", "tests", "docs", "queries", "themes", "benches"].map(|name| root.join(name)).into();
        let mut read = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = std::fs::read_to_string(&path) {
                    assert_eq!(secrets(&text), [], "{}", path.display());
                    read += 1;
                }
            }
        }
        assert!(read > 1_000, "{read} files");
    }

    proptest! {
        #[test]
        fn masking_keeps_the_lines_and_is_idempotent(
            parts in prop::collection::vec(prop_oneof![
                4 => (0..53usize).prop_map(|at| keys()[at].1.clone()),
                2 => (1..6usize).prop_map(pem),
                4 => "[ -~\n│é]{0,30}",
                1 => Just("\n".to_owned()),
                1 => Just("-----BEGIN PRIVATE KEY-----\n".to_owned()),
            ], 0..8),
        ) {
            let text = parts.concat();
            let once = masked(&text).into_owned();
            prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(masked(&once), once.as_str());
            prop_assert_eq!(has_mask(&once), !secrets(&text).is_empty());
            let last = text.matches('\n').count() + 1;
            prop_assert!(secrets(&text).iter().all(|secret| 1 <= secret.line && secret.line <= last));
        }
    }
}
