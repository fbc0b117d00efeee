//! The loopback address of the trial reaches the servers of the machine.
//!
//! The trial has a separate network. For each TCP port on which a server of the machine listens when the command starts, the trial
//! listens on the same port, and passes accepted connections to the relay: a process outside of that network, which connects them.

use std::fs;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::child::{Failed, failed};

/// First argument of the relay.
pub(crate) const RELAY: &str = "__trial-relay";
/// Maximum number of ports.
const MAX_PORTS: usize = 512;
/// State of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// The ports on which servers of this machine listen for connections by the loopback address.
pub(crate) fn listening_ports() -> Vec<u16> {
    let mut ports = Vec::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(file).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (Some(local), Some(&state)) = (fields.get(1), fields.get(3)) else { continue };
            let port = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            ports.extend(port.filter(|_| state == LISTENING));
        }
    }
    ports.sort_unstable();
    ports.dedup();
    ports.truncate(MAX_PORTS);
    ports
}

/// Starts the relay, which stays in the network of this process.
pub(crate) fn start() -> Result<UnixStream, Failed> {
    let (ours, theirs) = UnixStream::pair().map_err(failed("the relay"))?;
    let mut command = Command::new("/proc/self/exe");
    command.args([RELAY, "-"]).stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(failed("the relay"))?;
    Ok(ours)
}

/// Listens on the ports in the network of this process.
pub(crate) fn listen(ports: &[u16]) -> Vec<TcpListener> {
    let addresses = ports.iter().flat_map(|port| {
        [SocketAddr::from((Ipv4Addr::LOCALHOST, *port)), SocketAddr::from((Ipv6Addr::LOCALHOST, *port))]
    });
    // A port that cannot be taken is not reachable.
    addresses.filter_map(|address| TcpListener::bind(address).ok()).collect()
}

/// Passes connections to the relay until the child ends. A process that has entered a PID namespace cannot start threads, so it does both.
pub(crate) fn serve(listeners: &[TcpListener], relay: &UnixStream, child: &Child) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let ended = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let mut waiting = vec![PollFd::new(&ended, PollFlags::IN)];
        waiting.extend(listeners.iter().map(|one| PollFd::new(one, PollFlags::IN)));
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = waiting.iter().map(|one| !one.revents().is_empty()).collect();
        if ready.first() == Some(&true) {
            return Ok(());
        }
        for (listener, _) in listeners.iter().zip(ready.iter().skip(1)).filter(|(_, ready)| **ready) {
            let Ok((stream, _)) = listener.accept() else { continue };
            pass(relay, &stream, stream.local_addr()?.port())?;
        }
    }
}

/// Sends a connection and its port.
fn pass(relay: &UnixStream, stream: &TcpStream, port: u16) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut buffer = SendAncillaryBuffer::new(&mut space);
    let descriptors = [stream.as_fd()];
    buffer.push(SendAncillaryMessage::ScmRights(&descriptors));
    let bytes = port.to_ne_bytes();
    sendmsg(relay, &[IoSlice::new(&bytes)], &mut buffer, SendFlags::empty())?;
    Ok(())
}

/// Runs the relay: connects what it gets by its standard input, until that is closed.
pub(crate) fn run() {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut buffer = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0u8; 2];
        let received = recvmsg(io::stdin(), &mut [IoSliceMut::new(&mut bytes)], &mut buffer, RecvFlags::CMSG_CLOEXEC);
        match received {
            Ok(message) if message.bytes == bytes.len() => {}
            Err(rustix::io::Errno::INTR) => continue,
            _ => return,
        }
        let mut descriptors = Vec::new();
        for message in buffer.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                descriptors.extend(passed);
            }
        }
        let port = u16::from_ne_bytes(bytes);
        for descriptor in descriptors {
            std::thread::spawn(move || connect(&TcpStream::from(descriptor), port));
        }
    }
}

/// Connects a connection of the trial with the server. Without a server it is closed.
fn connect(inside: &TcpStream, port: u16) {
    let addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    let Ok(server) = TcpStream::connect(&addresses[..]) else { return };
    let (Ok(inside_too), Ok(server_too)) = (inside.try_clone(), server.try_clone()) else { return };
    std::thread::spawn(move || copy(&server_too, &inside_too));
    copy(inside, &server);
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // An error ends the connection as its end does.
    io::copy(&mut from, &mut to).ok();
    to.shutdown(Shutdown::Write).ok();
}
