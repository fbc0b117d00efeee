//! Finds sessions: the newest, one by name or number, or all that match a query.

use rusqlite::Row;

use rhumb_session::SessionLine;

use super::SessionStore;
use super::error::SessionsError;

/// The result of looking up a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one session.
    One(i64),
    /// Several sessions.
    Several(Vec<SessionLine>),
    /// No session.
    None,
}

/// Sessions without messages, name and draft are not listed. The time zone is that of the machine.
const LINES: &str = "
    SELECT number, parent, name, opening, messages,
           strftime('%Y-%m-%d %H:%M', begun / 1000, 'unixepoch', 'localtime'),
           strftime('%Y-%m-%d %H:%M', changed / 1000, 'unixepoch', 'localtime')
    FROM sessions
    WHERE messages > 0 OR name <> '' OR number IN (SELECT session FROM parts WHERE name IN ('draft', 'review'))
    ORDER BY changed DESC, number DESC";

impl SessionStore {
    /// The sessions that match a query, last changed first; all for an empty query.
    ///
    /// # Errors
    /// A database operation fails.
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

    /// The session that `word` identifies: a number, a whole name, or words that match only one session. Of several with the
    /// same name, the one that changed last.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn find(&self, word: &str) -> Result<Found, SessionsError> {
        let word = word.trim();
        let lines = self.list("")?;
        let number = word.trim_start_matches('#').parse::<i64>().ok();
        let exact = lines.iter().find(|line| Some(line.number) == number);
        let exact = exact.or_else(|| lines.iter().find(|line| line.name.to_lowercase() == word.to_lowercase()));
        if let Some(line) = exact.filter(|_| !word.is_empty()) {
            return Ok(Found::One(line.number));
        }
        // An unknown number must not match the dates of sessions.
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

    /// The session that changed last, except `except`.
    ///
    /// # Errors
    /// A database operation fails.
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
