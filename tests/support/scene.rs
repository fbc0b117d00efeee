//! The initial state of a harness: a temporary repository and a provider.

use super::*;

/// The delay of a provider that never answers.
const NEVER: Duration = Duration::from_secs(86_400);

/// The files of the small repository.
pub const HARBOUR: &[(&str, &str)] = &[
    ("README.md", "# harbour\n\nWho lies where, and for how long.\n"),
    (
        "harbour/berth.py",
        "\"\"\"Berths and the ships in them.\"\"\"\n\nfrom .ship import Ship\n\n\nclass Berth:\n    \"\"\"One place at the quay.\"\"\"\n\n    \
         def __init__(self, length):\n        self.length = length\n        self.ship = None\n\n    \
         def fits(self, ship: Ship) -> bool:\n        return ship.length < self.length\n\n    \
         def moor(self, ship: Ship):\n        if not self.fits(ship):\n            raise ValueError(\"too long\")\n        \
         self.ship = ship\n\n    def leave(self):\n        self.ship = None\n",
    ),
    (
        "harbour/ship.py",
        "\"\"\"Ships.\"\"\"\n\n\nclass Ship:\n    def __init__(self, name, length):\n        self.name = name\n        \
         self.length = length\n",
    ),
    (
        "tests/test_berth.py",
        "from harbour.berth import Berth\nfrom harbour.ship import Ship\n\n\ndef test_a_ship_moors():\n    \
         berth = Berth(30)\n    berth.moor(Ship(\"Anna\", 20))\n    assert berth.ship.name == \"Anna\"\n",
    ),
];

/// The initial state of a [`Harness`].
pub struct Scene {
    files: Vec<(String, String)>,
    git: bool,
    root: String,
    connection: Connection,
    /// Recorded replies. `None` means a provider that never answers, so that a test can stream by hand.
    replies: Option<Vec<ScriptedReply>>,
    chat_files: Vec<String>,
    draft: String,
    settings: Settings,
    depth: ColorDepth,
    sealed: bool,
}

impl Scene {
    /// The small repository without a model.
    pub fn harbour() -> Self {
        Self {
            files: owned(HARBOUR),
            git: true,
            root: "harbour".into(),
            connection: Connection::None,
            replies: None,
            chat_files: Vec::new(),
            draft: String::new(),
            settings: Settings::default(),
            depth: ColorDepth::True,
            sealed: false,
        }
    }

    /// The repository and the replies of `rhumb demo`.
    pub fn demo() -> Self {
        let replies = demo::replies().into_iter().map(|(words, reply)| ScriptedReply {
            match_words: words.into_iter().map(str::to_owned).collect(),
            reply: reply.to_owned(),
        });
        Self {
            files: owned(demo::files()),
            root: "demo".into(),
            connection: Connection::Demo,
            replies: Some(replies.collect()),
            chat_files: demo::FIRST_FILES.iter().map(|path| (*path).to_owned()).collect(),
            draft: demo::FIRST_MESSAGE.into(),
            settings: Settings { context_window: Some(32_768), ..Settings::default() },
            ..Self::harbour()
        }
    }

    /// Uses a model that always gives this reply.
    #[must_use]
    pub fn replying(mut self, reply: &str) -> Self {
        self.replies = Some(vec![ScriptedReply { match_words: Vec::new(), reply: reply.into() }]);
        self.named()
    }

    /// Uses a model that never answers. The test does, with [`Harness::stream`].
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.replies = None;
        self.named()
    }

    fn named(mut self) -> Self {
        self.connection = Connection::Remote { model: "gpt-4o".into(), host: "api.example.org".into() };
        self
    }

    /// Adds a file to the repository.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.retain(|(known, _)| known != path);
        self.files.push((path.into(), text.into()));
        self
    }

    /// Adds files to the chat.
    #[must_use]
    pub fn chat(mut self, paths: &[&str]) -> Self {
        self.chat_files = paths.iter().map(|path| (*path).to_owned()).collect();
        self
    }

    /// Prevents commands from running.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.sealed = true;
        self
    }

    /// Uses a folder without a repository, which is faster.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.git = false;
        self
    }

    /// Sets the context window of the model in tokens.
    #[must_use]
    pub fn window(mut self, tokens: usize) -> Self {
        self.settings.context_window = Some(tokens);
        self
    }

    /// Sets the colours of the terminal.
    #[must_use]
    pub fn depth(mut self, depth: ColorDepth) -> Self {
        self.depth = depth;
        self
    }

    /// Opens the app and waits until the repository is surveyed and the next request is measured.
    pub fn open(self, width: u16, height: u16) -> Harness {
        let folder = tempfile::tempdir().expect("a folder for the repository");
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("make folders");
            std::fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        }
        if self.git {
            rhumb_workspace::git::init(folder.path(), "Mira Keel", "mira@example.org", "Start").expect("a repository");
        }
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let answers = self.replies.is_some();
        let model = match &self.connection {
            Connection::None => None,
            Connection::Demo => Some("demo".to_owned()),
            Connection::Remote { model, .. } => Some(model.clone()),
        };
        let pace = if answers { Duration::ZERO } else { NEVER };
        let provider = Arc::new(ScriptedProvider::new(self.replies.unwrap_or_default(), pace));
        let line = model.map(|model| ModelClient::new(provider, model));
        let root = Root::at(folder.path()).expect("a root");
        let (sender, messages) = mpsc::channel(256);
        let host = Host::new(root, RequestEnv::new(self.settings), line, sender);
        let theme = Theme::builtin("rhumb-dark", self.depth).expect("the theme");
        let (session, effects) = Session::start(self.connection);
        let (app, tasks) = App::start(session, effects, theme, self.root);
        let mut harness = Harness {
            app,
            cache: ViewCache::default(),
            wanted: Vec::new(),
            terminal: Terminal::new(TestBackend::new(width, height)).expect("a test terminal"),
            host,
            messages,
            pending: PendingResponses { answers, ..PendingResponses::default() },
            commits: Vec::new(),
            copied: Vec::new(),
            fetches: Vec::new(),
            connecting: Vec::new(),
            indexed: Vec::new(),
            quit: false,
            written: BTreeSet::new(),
            sealed: self.sealed,
            runtime,
            folder,
        };
        harness.perform(tasks);
        if !self.chat_files.is_empty() {
            let effects = harness.app.session.add_files(&self.chat_files, false);
            harness.run(effects);
        }
        if !self.draft.is_empty() {
            harness.app.composer.set(&self.draft);
            let effects = harness.app.session.draft_changed(&self.draft);
            harness.run(effects);
        }
        harness.settle();
        harness
    }
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}
