//! Reads, writes and finds sessions.

use super::live::Live;
use super::{SessionStore, SessionsError};
use crate::store::database::{Database, DatabaseError, milliseconds};
use rhumb_session::{SessionChange, SessionLine, StoredSession};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;

/// Maximum number of inputs in the history; the oldest are removed.
const MAX_INPUTS: i64 = 2_000;

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
    /// Creates a session and locks it. Returns its number and the lock.
    ///
    /// # Errors
    /// A database operation fails, or the lock file cannot be created.
    pub fn begin(&mut self, parent: Option<i64>) -> Result<(i64, Live), SessionsError> {
        let Database { path, connection } = &mut self.database;
        let sql = |source| DatabaseError::Sql { path: path.clone(), source };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let row = "INSERT INTO sessions (parent, begun, changed) VALUES (?1, ?2, ?2)";
        transaction.execute(row, params![parent, milliseconds()]).map_err(sql)?;
        let number = transaction.last_insert_rowid();
        // Locked before the row is visible. A number is never reused, so the lock is free.
        let source = || std::io::Error::other("the lock of a new session is taken");
        let live = Live::take(&self.folder, number)?
            .ok_or_else(|| DatabaseError::Folder { path: self.folder.clone(), source: source() })?;
        transaction.commit().map_err(sql)?;
        Ok((number, live))
    }

    /// Writes changes and new inputs in one transaction.
    ///
    /// # Errors
    /// A database operation fails, or the session was deleted.
    pub fn change(
        &mut self,
        number: Option<i64>,
        change: &SessionChange,
        inputs: &[String],
    ) -> Result<(), SessionsError> {
        let exists = self.database.write(|transaction| {
            let exists = number.map_or(Ok(true), |number| write(transaction, number, change))?;
            remember(transaction, inputs)?;
            Ok(exists)
        })?;
        match number {
            Some(number) if !exists => Err(SessionsError::Gone(number)),
            _ => Ok(()),
        }
    }

    /// Reads a session; `None` if it does not exist.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn load(&mut self, number: i64) -> Result<Option<StoredSession>, SessionsError> {
        // One transaction, so that the parts are consistent while another process writes.
        Ok(self.database.run(|connection| read(&connection.unchecked_transaction()?, number))?)
    }

    /// Reads parts of a session without its transcript, which may be long.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn parts(&self, number: i64, names: &[&str]) -> Result<StoredSession, SessionsError> {
        let read = |connection: &Connection| {
            let mut part = connection.prepare("SELECT body FROM parts WHERE session = ? AND name = ?")?;
            let mut parts = BTreeMap::new();
            for name in names {
                let body: Option<String> = part.query_row(params![number, name], |row| row.get(0)).optional()?;
                parts.extend(body.map(|body| ((*name).to_owned(), body)));
            }
            Ok(StoredSession { number, parts, ..StoredSession::default() })
        };
        Ok(self.database.run(read)?)
    }

    /// Deletes a session that is not open. Returns `false` if it does not exist or is open.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn delete(&mut self, number: i64) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let delete = "DELETE FROM sessions WHERE number = ?1";
        Ok(self.database.run(|connection| connection.execute(delete, [number]))? > 0)
    }

    /// Renames a session that is not open. Returns `false` if it does not exist or is open.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn rename(&mut self, number: i64, name: &str) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let rename = "UPDATE sessions SET name = ?2 WHERE number = ?1";
        Ok(self.database.run(|connection| connection.execute(rename, params![number, name]))? > 0)
    }

    /// The latest inputs of all sessions without repetition, oldest first.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn inputs(&self) -> Result<Vec<String>, SessionsError> {
        let read = |connection: &Connection| {
            let newest = "SELECT body FROM inputs GROUP BY body ORDER BY max(number)";
            let mut statement = connection.prepare(newest)?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        Ok(self.database.run(read)?)
    }

    /// The sessions that match a query, last changed first; all for an empty query.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn list(&self, query: &str) -> Result<Vec<SessionLine>, SessionsError> {
        let read = |connection: &Connection| {
            let mut statement = connection.prepare(LINES)?;
            statement.query_map([], line)?.collect::<rusqlite::Result<Vec<SessionLine>>>()
        };
        let mut lines = self.database.run(read)?;
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

fn write(transaction: &Transaction<'_>, number: i64, change: &SessionChange) -> rusqlite::Result<bool> {
    let row = "UPDATE sessions SET name = coalesce(?2, name), opening = coalesce(?3, opening), messages = ?4, \
               changed = ?5 WHERE number = ?1";
    let values = params![number, change.name, change.opening, as_number(change.messages), milliseconds()];
    if transaction.prepare_cached(row)?.execute(values)? == 0 {
        return Ok(false);
    }
    let mut entry =
        transaction.prepare_cached("INSERT OR REPLACE INTO entries (session, place, body) VALUES (?, ?, ?)")?;
    for (place, body) in &change.entries {
        entry.execute(params![number, as_number(*place), body])?;
    }
    transaction
        .prepare_cached("DELETE FROM entries WHERE session = ? AND place >= ?")?
        .execute(params![number, as_number(change.length)])?;
    let mut part = transaction.prepare_cached("INSERT OR REPLACE INTO parts (session, name, body) VALUES (?, ?, ?)")?;
    let mut gone = transaction.prepare_cached("DELETE FROM parts WHERE session = ? AND name = ?")?;
    for (name, body) in &change.parts {
        if body.is_empty() {
            gone.execute(params![number, name])?;
        } else {
            part.execute(params![number, name, body])?;
        }
    }
    Ok(true)
}

fn remember(transaction: &Transaction<'_>, inputs: &[String]) -> rusqlite::Result<()> {
    if inputs.is_empty() {
        return Ok(());
    }
    let mut input = transaction.prepare_cached("INSERT INTO inputs (body, typed) VALUES (?, ?)")?;
    for body in inputs {
        input.execute(params![body, milliseconds()])?;
    }
    let old = "DELETE FROM inputs WHERE number <= (SELECT max(number) FROM inputs) - ?";
    transaction.execute(old, [MAX_INPUTS]).map(drop)
}

fn read(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<Option<StoredSession>> {
    let row = "SELECT parent, name FROM sessions WHERE number = ?";
    let found = transaction.query_row(row, [number], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((parent, name)) = found else { return Ok(None) };
    let mut entries = transaction.prepare("SELECT body FROM entries WHERE session = ? ORDER BY place")?;
    let entries = entries.query_map([number], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut parts = transaction.prepare("SELECT name, body FROM parts WHERE session = ?")?;
    let parts = parts.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    Ok(Some(StoredSession { number, parent, name, entries, parts }))
}

fn as_number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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
