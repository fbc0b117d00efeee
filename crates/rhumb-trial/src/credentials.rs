//! What a command must not read: credentials in the home folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files and folders with credentials of a user with these home folders. `variable` reads the environment.
pub(crate) fn credentials(homes: &[PathBuf], variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        homes.iter().flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name))).collect();
    for (folder, name) in FOLDER_VARIABLES {
        let Some(moved) = variable(name).map(PathBuf::from).filter(|path| path.is_absolute()) else { continue };
        let below = CREDENTIALS.iter().filter_map(|path| Path::new(path).strip_prefix(folder).ok());
        found.extend(below.map(|path| if path == Path::new("") { moved.clone() } else { moved.join(path) }));
    }
    let listed = FILE_VARIABLES.iter().filter_map(|name| variable(name));
    found.extend(listed.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()));
    found.retain(|path| path.is_absolute());
    found
}

/// Variables that name another place for a folder of the home folder.
const FOLDER_VARIABLES: [(&str, &str); 14] = [
    (".config", "XDG_CONFIG_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
    (".cargo", "CARGO_HOME"),
    (".gradle", "GRADLE_USER_HOME"),
    (".gnupg", "GNUPGHOME"),
    (".docker", "DOCKER_CONFIG"),
    (".azure", "AZURE_CONFIG_DIR"),
    (".password-store", "PASSWORD_STORE_DIR"),
    (".composer", "COMPOSER_HOME"),
    (".config/gcloud", "CLOUDSDK_CONFIG"),
    (".config/gh", "GH_CONFIG_DIR"),
    (".config/glab-cli", "GLAB_CONFIG_DIR"),
    (".config/op", "OP_CONFIG_DIR"),
];

/// Variables that name files with credentials, separated as in `PATH` where there are several.
const FILE_VARIABLES: [&str; 10] = [
    "KUBECONFIG",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "NETRC",
    "PGPASSFILE",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "PIP_CONFIG_FILE",
    "VAULT_TOKEN_PATH",
];

/// Files and folders of the home folder with credentials, or with sockets of agents that act for the user.
const CREDENTIALS: [&str; 60] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".vault-token",
    ".terraform.d",
    ".terraformrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/rhumb",
    ".config/op",
    ".config/doctl",
    ".config/containers",
    ".config/helm",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/Signal",
    ".config/Slack",
    ".config/rclone",
    ".config/sops",
    ".config/pip/pip.conf",
    ".1password",
    ".mozilla",
    ".thunderbird",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
    ".colima",
    ".lima",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/state/rhumb",
    ".local/share/rhumb",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_where_the_environment_moves_them() {
        let variable = |name: &str| {
            let values = [
                ("XDG_CONFIG_HOME", "/etc/me"),
                ("CARGO_HOME", "/opt/cargo"),
                ("GNUPGHOME", "relative"),
                ("KUBECONFIG", "/k/one:/k/two"),
            ];
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let found = credentials(&[PathBuf::from("/home/me")], variable);
        for path in ["/home/me/.ssh", "/home/me/.config/gh", "/etc/me/gh", "/opt/cargo/credentials.toml", "/k/two"] {
            assert!(found.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(found.iter().all(|path| path.is_absolute()));
    }
}
