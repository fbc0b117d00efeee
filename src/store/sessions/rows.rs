//! Writing a session bit by bit, and reading it whole.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::error::SessionsError;
use super::live::Live;
use super::{SessionStore, now};

/// Inputs that are kept for the history; the oldest go first.
const INPUTS: i64 = 2_000;

/// What has changed in a session since it was last written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionChange {
    /// What the user calls it, if that has changed.
    pub name: Option<String>,
    /// Its first message, if that has changed.
    pub opening: Option<String>,
    /// How many messages of the user it holds.
    pub messages: usize,
    /// Entries that are new or others now, by their place in the transcript.
    pub entries: Vec<(usize, String)>,
    /// How many entries there are: later ones are gone.
    pub length: usize,
    /// Parts that have changed; an empty one is gone.
    pub parts: Vec<(&'static str, String)>,
}

/// A session as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredSession {
    /// Its number.
    pub number: i64,
    /// The session that it began as a part of.
    pub parent: Option<i64>,
    /// What the user calls it; empty for nothing.
    pub name: String,
    /// The transcript.
    pub entries: Vec<String>,
    /// Everything else.
    pub parts: BTreeMap<String, String>,
}

impl SessionStore {
    /// Begins a session, which nobody else can open meanwhile: its number, and the hold on it.
    ///
    /// # Errors
    /// The database or the folder refuses.
    pub fn begin(&mut self, parent: Option<i64>) -> Result<(i64, Live), SessionsError> {
        let (folder, path) = (self.folder.clone(), self.path.clone());
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        let transaction = immediate(&mut self.database).map_err(sql)?;
        let at = now();
        let row = "INSERT INTO sessions (parent, begun, changed) VALUES (?1, ?2, ?2)";
        transaction.execute(row, params![parent, at]).map_err(sql)?;
        let number = transaction.last_insert_rowid();
        // Before anybody can see the row. A number is never given twice, so nobody else can have the lock.
        let source = || std::io::Error::other("the lock of a new session is taken");
        let live = Live::take(&folder, number)?
            .ok_or_else(|| SessionsError::Folder { path: folder.clone(), source: source() })?;
        transaction.commit().map_err(sql)?;
        Ok((number, live))
    }

    /// Writes a change, all of it or nothing, and what was typed since the last one.
    ///
    /// # Errors
    /// The database refuses, or the session is gone.
    pub fn change(
        &mut self,
        number: Option<i64>,
        change: &SessionChange,
        inputs: &[String],
    ) -> Result<(), SessionsError> {
        let path = self.path.clone();
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        let transaction = immediate(&mut self.database).map_err(sql)?;
        let known = number.map_or(Ok(true), |number| write(&transaction, number, change)).map_err(sql)?;
        remember(&transaction, inputs).map_err(sql)?;
        transaction.commit().map_err(sql)?;
        match number {
            Some(number) if !known => Err(SessionsError::Gone { number }),
            _ => Ok(()),
        }
    }

    /// Reads a session; `None` if there is no such.
    ///
    /// # Errors
    /// The database refuses.
    pub fn load(&mut self, number: i64) -> Result<Option<StoredSession>, SessionsError> {
        let path = self.path.clone();
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        // One transaction: what is read belongs together even if somebody writes meanwhile.
        let transaction = self.database.transaction().map_err(sql)?;
        read(&transaction, number).map_err(sql)
    }

    /// Reads parts of a session without its transcript, so that a long one costs nothing.
    ///
    /// # Errors
    /// The database refuses.
    pub fn parts(&self, number: i64, names: &[&str]) -> Result<StoredSession, SessionsError> {
        let read = || {
            let mut part = self.database.prepare("SELECT body FROM parts WHERE session = ? AND name = ?")?;
            let mut parts = BTreeMap::new();
            for name in names {
                let body: Option<String> = part.query_row(params![number, name], |row| row.get(0)).optional()?;
                parts.extend(body.map(|body| ((*name).to_owned(), body)));
            }
            Ok(StoredSession { number, parts, ..StoredSession::default() })
        };
        read().map_err(|source| self.failed(source))
    }

    /// Deletes a session that nobody has open. False if there is none, or somebody has.
    ///
    /// # Errors
    /// The database refuses.
    pub fn delete(&mut self, number: i64) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let gone = self.database.execute("DELETE FROM sessions WHERE number = ?1", [number]);
        gone.map(|rows| rows > 0).map_err(|source| self.failed(source))
    }

    /// Calls a session that nobody has open something else. False if there is none, or somebody has.
    ///
    /// # Errors
    /// The database refuses.
    pub fn rename(&mut self, number: i64, name: &str) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let named = self.database.execute("UPDATE sessions SET name = ?2 WHERE number = ?1", params![number, name]);
        named.map(|rows| rows > 0).map_err(|source| self.failed(source))
    }

    /// What was typed lately in all sessions, the oldest first; nothing twice.
    ///
    /// # Errors
    /// The database refuses.
    pub fn inputs(&self) -> Result<Vec<String>, SessionsError> {
        let read = || {
            let newest = "SELECT body FROM inputs GROUP BY body ORDER BY max(number)";
            let mut statement = self.database.prepare(newest)?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|source| self.failed(source))
    }
}

/// A transaction that writes. Beginning it as such waits for others; becoming one later would fail instead.
fn immediate(database: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    database.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Whether the session was there to be written.
fn write(transaction: &Transaction<'_>, number: i64, change: &SessionChange) -> rusqlite::Result<bool> {
    let row = "UPDATE sessions SET name = coalesce(?2, name), opening = coalesce(?3, opening), messages = ?4, \
               changed = ?5 WHERE number = ?1";
    let values = params![number, change.name, change.opening, as_number(change.messages), now()];
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
        input.execute(params![body, now()])?;
    }
    let old = "DELETE FROM inputs WHERE number <= (SELECT max(number) FROM inputs) - ?";
    transaction.execute(old, [INPUTS]).map(drop)
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
