//! Keys are made here letter by letter, so that no file of ours looks as if it held one.

use proptest::prelude::*;

use super::*;

const LETTERS: &str = "Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeUgAiOuEoWyQaZxSvDrFtGhNkPmBjYl";
const HEX: &str = "7f3a9c51e0d84b26af93c7158e2d6b40913fca75d28e6b04c1f7a39e5d80b264f7c91a3e5d80b264";

/// So many characters of an alphabet, turned by `from`.
fn body(alphabet: &str, from: usize, count: usize) -> String {
    alphabet.chars().cycle().skip(from).take(count).collect()
}

/// A key of every kind, with what it is.
fn keys() -> Vec<(&'static str, String)> {
    let letters = |count| body(LETTERS, 0, count);
    let hex = |count| body(HEX, 0, count);
    let upper =
        |count| LETTERS.to_uppercase().chars().filter(char::is_ascii_uppercase).cycle().take(count).collect::<String>();
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

/// A key block of so many lines.
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
fn a_key_of_every_kind_is_found_where_it_stands_and_masked() {
    let kinds: BTreeSet<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(keys().iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>(), kinds, "each kind has its example");
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
fn a_key_block_keeps_its_lines_and_no_two_of_them_look_alike() {
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
    assert!(!super::masked(cut).contains(&body(LETTERS, 3, 12)), "a block that is cut is a key all the same");
    let escaped = pem(3).replace('\n', "\\n");
    assert!(!super::masked(&format!("\"key\": \"{escaped}\"")).contains(&body(LETTERS, 3, 12)));
    let numbered: String = pem(3).lines().enumerate().map(|(at, line)| format!("{at:>5}│ {line}\n")).collect();
    assert!(!super::masked(&numbered).contains(&body(LETTERS, 3, 12)));
}

#[test]
fn a_key_hides_no_other_that_follows_it() {
    let [one, other] = [&keys()[5].1, &keys()[2].1];
    let text = format!("{one}{}", pem(3));
    assert_eq!(secrets(&text).iter().map(|secret| secret.kind).collect::<Vec<_>>(), ["Anthropic key", "private key"]);
    assert!(!masked(&text).contains(&body(LETTERS, 3, 12)), "{}", masked(&text));
    let begin = format!("-----BEGIN {}-----\n", "PRIVATE KEY");
    let text = format!("{begin}{other} {one}{}", pem(3));
    assert!(!masked(&text).contains(&body(LETTERS, 3, 12)), "{}", masked(&text));
    let long = format!("sk-proj-{}", body(LETTERS, 0, 2_000));
    assert_eq!(masked(&format!("k = '{long}'")), "k = '[OpenAI key, masked by rhumb]'");
}

/// What was made to take long takes no longer than other texts of its size: an hour if it were looked at again from everywhere.
#[test]
fn a_text_that_begins_a_key_everywhere_is_read_in_no_time() {
    for part in ["sk-proj-", "sk-proj-Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5-----BEGIN ", "-----BEGIN PRIVATE KEY-----"] {
        let text = part.repeat(200_000 / part.len());
        assert!(masked(&text).lines().count() == 1, "{part}");
    }
}

#[test]
fn what_stands_for_a_key_or_speaks_of_one_is_none() {
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

/// Whoever works on a repository is not to be told of keys that are none.
#[test]
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
    fn masking_keeps_the_lines_is_done_once_and_takes_nothing_else(
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
