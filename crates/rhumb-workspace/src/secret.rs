//! Which files look as if they held secrets, by name alone.

/// File names that hold keys or passwords in the tools that own them.
const NAMES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".envrc",
    "credentials",
    "credentials.json",
    "service-account.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "terraform.tfstate",
];

/// Endings of key stores and private keys.
const ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg", ".tfvars", ".ovpn"];

/// Names of private keys that SSH makes.
const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Endings that mark a file as a template of an environment file, fit for everyone's eyes.
const TEMPLATES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Whether the last part of `path` (with `/`) is a name under which secrets are usually kept. A public key (`.pub`) and
/// an environment template (`.env.example`) are not.
pub fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if name.ends_with(".pub") || TEMPLATES.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    NAMES.contains(&name.as_str())
        || name == ".env"
        || name.starts_with(".env.")
        || name.ends_with(".env")
        || SSH_KEYS.iter().any(|key| name.starts_with(key))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::is_secret_name;

    #[test]
    fn names_of_secrets_are_known() {
        for path in [".env", "app/.env.local", "prod.env", "server.PEM", "home/id_rsa", "id_ed25519_work", ".netrc"] {
            assert!(is_secret_name(path), "{path}");
        }
    }

    #[test]
    fn ordinary_names_public_keys_and_templates_are_not_secret() {
        for path in ["src/main.rs", "id_rsa.pub", ".env.example", "environment.md", "keys.rs", "src/env.rs", ""] {
            assert!(!is_secret_name(path), "{path}");
        }
    }
}
