//! Writes changes of sessions, and reads sessions.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use rhumb_session::{SessionChange, StoredSession};

use super::error::SessionsError;
use super::live::Live;
use super::{SessionStore, now};

/// Maximum number of inputs in the history; the oldest are removed.
const MAX_INPUTS: i64 = 2_000;

impl SessionStore {
    /// Creates a session and locks it. Returns its number and the lock.
    ///
    /// # Errors
    /// A database operation fails, or the lock file cannot be created.
    pub fn begin(&mut self, parent: Option<i64>) -> Result<(i64, Live), SessionsError> {
        let (folder, path) = (self.folder.clone(), self.path.clone());
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        let transaction = immediate(&mut self.database).map_err(sql)?;
        let at = now();
        let row = "INSERT INTO sessions (parent, begun, changed) VALUES (?1, ?2, ?2)";
        transaction.execute(row, params![parent, at]).map_err(sql)?;
        let number = transaction.last_insert_rowid();
        // Locked before the row is visible. A number is never reused, so the lock is free.
        let source = || std::io::Error::other("the lock of a new session is taken");
        let live = Live::take(&folder, number)?
            .ok_or_else(|| SessionsError::Folder { path: folder.clone(), source: source() })?;
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

    /// Reads a session; `None` if it does not exist.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn load(&mut self, number: i64) -> Result<Option<StoredSession>, SessionsError> {
        let path = self.path.clone();
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        // One transaction, so that the parts are consistent while another process writes.
        let transaction = self.database.transaction().map_err(sql)?;
        read(&transaction, number).map_err(sql)
    }

    /// Reads parts of a session without its transcript, which may be long.
    ///
    /// # Errors
    /// A database operation fails.
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

    /// Deletes a session that is not open. Returns `false` if it does not exist or is open.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn delete(&mut self, number: i64) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let gone = self.database.execute("DELETE FROM sessions WHERE number = ?1", [number]);
        gone.map(|rows| rows > 0).map_err(|source| self.failed(source))
    }

    /// Renames a session that is not open. Returns `false` if it does not exist or is open.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn rename(&mut self, number: i64, name: &str) -> Result<bool, SessionsError> {
        let Some(_live) = self.hold(number)? else { return Ok(false) };
        let named = self.database.execute("UPDATE sessions SET name = ?2 WHERE number = ?1", params![number, name]);
        named.map(|rows| rows > 0).map_err(|source| self.failed(source))
    }

    /// The latest inputs of all sessions without repetition, oldest first.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn inputs(&self) -> Result<Vec<String>, SessionsError> {
        let read = || {
            let newest = "SELECT body FROM inputs GROUP BY body ORDER BY max(number)";
            let mut statement = self.database.prepare(newest)?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|source| self.failed(source))
    }
}

/// A write transaction. It waits for other writers at its start; upgrading a read transaction would fail instead.
fn immediate(database: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    database.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Whether the session exists.
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
