//! What a slash command does to the session. Commands that are about the screen alone are the face's.

use super::Command;
use crate::connect::ModelRole;
use crate::effect::Effect;
use crate::proposal::commits::GitEffect;
use crate::repository::lookup::LookupEffect;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_llm::Thinking;
use rhumb_workspace::Direction;

impl Session {
    /// Carries a command out.
    pub fn command(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::Add { names, read_only } => return self.add_files(&names, read_only),
            Command::Drop(names) => return self.drop_files(&names),
            Command::Codebase(question) => return self.ask_codebase(&question),
            Command::Passages(choice) => return self.choose_passages(choice),
            Command::List => self.list_files(),
            Command::AllReadOnly => return self.make_all_read_only(),
            Command::Tokens => self.report_tokens(),
            Command::Compact(keep) => return self.compact(keep),
            Command::Clear => return self.clear_history(),
            Command::Model(Some(name)) => return self.use_model(name),
            Command::Model(None) => return self.choose_model(ModelRole::Main, String::new()),
            Command::WeakModel(Some(name)) => return self.choose_for(ModelRole::Weak, name),
            Command::WeakModel(None) => return self.choose_model(ModelRole::Weak, String::new()),
            Command::EditorModel(Some(name)) => return self.choose_for(ModelRole::Editor, name),
            Command::EditorModel(None) => return self.choose_model(ModelRole::Editor, String::new()),
            Command::Models(query) => return self.choose_model(ModelRole::Main, query),
            Command::Effort(word) => return self.choose_thinking(word.map(Thinking::Effort)),
            Command::ThinkTokens(tokens) => return self.choose_thinking(tokens.map(Thinking::Budget)),
            Command::EditFormat(format) => return self.choose_edit_format(format),
            Command::Settings(only) => return self.request_settings(only),
            Command::Trust => return vec![Effect::Lookup(LookupEffect::Trust)],
            Command::MapTokens(tokens) => return self.set_map_tokens(tokens),
            Command::Pin(names) => return self.pin(&names),
            Command::Ban(names) => return self.ban(&names),
            Command::MapRefresh(mode) => return self.refresh_map(mode),
            Command::Index(command) => return self.index_command(command),
            Command::CopyContext => return self.copy_prompt(),
            Command::Review => return self.review_last_answer(),
            Command::Cost => self.report_cost(),
            Command::Continue => return self.continue_answer(),
            Command::Retry => return self.retry(),
            Command::Watch(on) => return self.watch(on),
            Command::Run(line) => return self.run_line(line),
            Command::Git(arguments) => return self.run_git(arguments),
            Command::Test(line) => return self.test(line),
            Command::Lint(names) => return self.lint(&names),
            Command::Undo => return self.unwrite(Direction::Undo),
            Command::Redo => return self.unwrite(Direction::Redo),
            Command::Mode { mode, message } => return self.mode_command(mode, &message),
            Command::Diff => return vec![Effect::Git(GitEffect::Diff)],
            Command::Commit(message) => return self.commit_all(message),
            Command::Servers => {
                self.report(Level::Info, "Looking for a model server on this machine …", "");
                return vec![Effect::FindServers];
            }
            Command::Connect(provider) => self.connect_command(provider),
            Command::Init => return self.init(),
            Command::Web(url) => return self.fetch_page(&url),
            Command::Paste(name) => return self.paste_from_clipboard(name),
            Command::Voice => return self.record(),
            Command::Reset => return self.reset(),
            Command::Rewind(turn) => return self.rewind(turn),
            Command::Sessions(query) => return self.list_sessions(query),
            Command::Resume(word) => return self.resume(word),
            Command::Fork(turn) => return self.fork(turn),
            Command::Rename(name) => self.rename(name),
            Command::Export(path) => return self.export(path),
            Command::Save(path) => return self.save_files(path),
            Command::Load(path) => return self.load_commands(path),
            // The face's own: they are about the screen, the terminal or the program itself.
            Command::Help
            | Command::Map
            | Command::Search(_)
            | Command::Copy
            | Command::Editor(_)
            | Command::Theme(_)
            | Command::Keys
            | Command::Doctor
            | Command::Response(_)
            | Command::Quit => {}
        }
        Vec::new()
    }
}
