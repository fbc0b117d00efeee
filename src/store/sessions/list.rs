//! Finding sessions: the newest, one by its name or number, or all that a query matches.

use rusqlite::Row;

use super::SessionStore;
use super::error::SessionsError;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// Its number.
    pub number: i64,
    /// The session that it began as a part of.
    pub parent: Option<i64>,
    /// What the user calls it; empty for nothing.
    pub name: String,
    /// The first line of its first message; empty where nothing was sent yet.
    pub opening: String,
    /// How many messages of the user it holds.
    pub messages: usize,
    /// When it began, in local time: `2026-11-22 08:40`.
    pub begun: String,
    /// When it last changed, in local time.
    pub changed: String,
    /// Whether some process has it open now.
    pub live: bool,
}

impl SessionLine {
    /// What to call it: its name, else how it began.
    pub fn title(&self) -> &str {
        match (self.name.as_str(), self.opening.as_str()) {
            ("", "") => "(nothing sent yet)",
            ("", opening) => opening,
            (name, _) => name,
        }
    }

    /// Whether every word of a query stands in its name, its first message or its dates.
    fn matches(&self, query: &str) -> bool {
        let text = format!("{} {} {} {}", self.name, self.opening, self.begun, self.changed).to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// What a word for a session led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This one.
    One(i64),
    /// Several could be meant.
    Several(Vec<SessionLine>),
    /// None.
    None,
}

/// Sessions in which nothing was said, that have no name and no draft, are on no list. The time zone is that of the machine.
const LINES: &str = "
    SELECT number, parent, name, opening, messages,
           strftime('%Y-%m-%d %H:%M', begun / 1000, 'unixepoch', 'localtime'),
           strftime('%Y-%m-%d %H:%M', changed / 1000, 'unixepoch', 'localtime')
    FROM sessions
    WHERE messages > 0 OR name <> '' OR number IN (SELECT session FROM parts WHERE name IN ('draft', 'review'))
    ORDER BY changed DESC, number DESC";

impl SessionStore {
    /// The sessions that a query matches, the one that changed last first; all of them for an empty query.
    ///
    /// # Errors
    /// The database refuses.
    pub fn list(&self, query: &str) -> Result<Vec<SessionLine>, SessionsError> {
        let read = || {
            let mut statement = self.database.prepare(LINES)?;
            statement.query_map([], line)?.collect::<rusqlite::Result<Vec<SessionLine>>>()
        };
        let mut lines = read().map_err(|source| self.failed(source))?;
        lines.retain(|line| line.matches(query));
        lines.iter_mut().for_each(|line| line.live = self.is_live(line.number));
        Ok(lines)
    }

    /// The session that `word` means: a number, a whole name, or words that match one session alone. Of several with that name
    /// the one that changed last.
    ///
    /// # Errors
    /// The database refuses.
    pub fn find(&self, word: &str) -> Result<Found, SessionsError> {
        let word = word.trim();
        let lines = self.list("")?;
        let number = word.trim_start_matches('#').parse::<i64>().ok();
        let exact = lines.iter().find(|line| Some(line.number) == number);
        let exact = exact.or_else(|| lines.iter().find(|line| line.name.to_lowercase() == word.to_lowercase()));
        if let Some(line) = exact.filter(|_| !word.is_empty()) {
            return Ok(Found::One(line.number));
        }
        // A number that is none of theirs must not lead to the sessions of a date with that digit.
        if number.is_some() {
            return Ok(Found::None);
        }
        let near: Vec<SessionLine> = lines.into_iter().filter(|line| line.matches(word)).collect();
        Ok(match near.as_slice() {
            [] => Found::None,
            [one] => Found::One(one.number),
            _ => Found::Several(near),
        })
    }

    /// The session that changed last, other than `except`.
    ///
    /// # Errors
    /// The database refuses.
    pub fn newest(&self, except: Option<i64>) -> Result<Option<i64>, SessionsError> {
        Ok(self.list("")?.iter().map(|line| line.number).find(|number| Some(*number) != except))
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<SessionLine> {
    Ok(SessionLine {
        number: row.get(0)?,
        parent: row.get(1)?,
        name: row.get(2)?,
        opening: row.get(3)?,
        messages: usize::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
        begun: row.get(5)?,
        changed: row.get(6)?,
        live: false,
    })
}
