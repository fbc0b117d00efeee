//! A key is sent over TLS only to a server with a valid certificate for its name.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// The settings of `openssl ca`, which can backdate a certificate.
const AUTHORITY: &str = "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=p\n\
    unique_subject=no\n[p]\ncommonName=supplied\n";

/// Runs `openssl` in a folder. Returns whether it succeeded.
fn openssl(folder: &Path, words: &str) -> bool {
    let run = std::process::Command::new("openssl").args(words.split(' ')).current_dir(folder).output();
    run.is_ok_and(|output| output.status.success())
}

fn key(folder: &Path, name: &str, words: &str) -> bool {
    let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj";
    openssl(folder, &format!("req {new} /CN={name} -keyout {name}.key {words}"))
}

/// An authority, and a certificate `name.pem` that it signed for `host`, good until `end` (year, month, day).
fn signed(folder: &Path, authority: &str, name: &str, host: &str, end: &str) -> bool {
    fs::write(folder.join(format!("{name}.ext")), format!("subjectAltName={host}\n")).unwrap();
    key(folder, name, &format!("-new -out {name}.csr"))
        && openssl(
            folder,
            &format!(
                "ca -batch -notext -config authority.cnf -cert {authority}.pem -keyfile {authority}.key -in {name}.csr \
                 -out {name}.pem -startdate 20200101000000Z -enddate {end}000000Z -extfile {name}.ext"
            ),
        )
}

/// Makes all certificates. Returns `false` without a suitable openssl.
fn made(folder: &Path) -> bool {
    fs::write(folder.join("authority.cnf"), AUTHORITY).unwrap();
    fs::write(folder.join("index"), "").unwrap();
    fs::write(folder.join("serial"), "01\n").unwrap();
    let own = |name: &str| key(folder, name, &format!("-x509 -out {name}.pem -days 30"));
    own("known")
        && own("unknown")
        && key(folder, "alone", "-x509 -out alone.pem -days 30 -addext subjectAltName=IP:127.0.0.1")
        && signed(folder, "known", "good", "IP:127.0.0.1", "20991231")
        && signed(folder, "known", "expired", "IP:127.0.0.1", "20200201")
        && signed(folder, "known", "other", "DNS:other.example", "20991231")
        && signed(folder, "unknown", "stranger", "IP:127.0.0.1", "20991231")
}

/// A server with this certificate that refuses every request, and what it has read within TLS so far.
fn serve(folder: &Path, name: &str) -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    let chain = CertificateDer::pem_file_iter(file("pem")).unwrap().map(Result::unwrap).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key")).unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let read = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&read);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            let mut bytes = [0; 4096];
            // A client that rejects the certificate causes an error and sends nothing.
            while let Ok(length @ 1..) = stream.read(&mut bytes) {
                seen.lock().unwrap().extend_from_slice(&bytes[..length]);
                if seen.lock().unwrap().windows(4).any(|end| end == b"\r\n\r\n") {
                    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                    stream.write_all(refusal.as_bytes()).ok();
                    stream.conn.send_close_notify();
                    stream.flush().ok();
                    break;
                }
            }
        }
    });
    (address, read)
}

#[test]
fn a_key_is_sent_to_no_server_without_a_valid_certificate() {
    let certificates = tempfile::tempdir().unwrap();
    if !made(certificates.path()) {
        eprintln!("skipped: no openssl here makes certificates");
        return;
    }
    let repo = harbour_repo();
    for (name, is_trusted) in
        [("good", true), ("expired", false), ("other", false), ("stranger", false), ("alone", false)]
    {
        let (address, read) = serve(certificates.path(), name);
        let mut command = rhumb(&repo.path(), &["edit", "-m", "x", "--model", MODEL]);
        command.args(["--base-url", &format!("https://{address}/v1")]);
        command.env("SSL_CERT_FILE", certificates.path().join("known.pem"));
        let (code, _, err) = run(command);
        let read = String::from_utf8_lossy(&read.lock().unwrap()).into_owned();
        assert_ne!(code, 0, "{name}: {err}");
        assert_eq!(read.contains(&format!("Bearer {KEY}")), is_trusted, "{name}: {err}\n{read}");
        assert!(is_trusted || (read.is_empty() && err.contains("no secure connection")), "{name}: {err}\n{read}");
    }
}
