//! Fetching from a server on this machine, which has to be allowed like any other that is near.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use tokio::net::TcpListener;
use url::Url;

use super::*;

/// A request to the server: path and headers.
type Seen = Arc<Mutex<Vec<(String, HeaderMap)>>>;

struct Site {
    address: SocketAddr,
    seen: Seen,
}

impl Site {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Seen::default());
        let app = Router::new().fallback(answer).with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, seen }
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    fn allowed(&self) -> Vec<NonPublicHost> {
        vec![NonPublicHost { host: "127.0.0.1".into(), port: self.address.port(), addresses: vec![self.address.ip()] }]
    }

    async fn fetch(&self, path: &str) -> Result<Fetched, WebError> {
        fetch_page(&self.url(path), &self.allowed(), limits(), &|_| {}).await
    }
}

fn limits() -> Limits {
    Limits { bytes: 100_000, total: Duration::from_secs(20), idle: Duration::from_secs(20), redirects: 5 }
}

async fn answer(State(seen): State<Seen>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    seen.lock().unwrap().push((uri.path().to_owned(), headers));
    let to = |location: &str| {
        let answer = Response::builder().status(StatusCode::FOUND).header("location", location);
        answer.header("set-cookie", "a=canary").body(Body::empty()).unwrap()
    };
    let page = |kind: &str, body: Body| Response::builder().header("content-type", kind).body(body).unwrap();
    match uri.path() {
        "/page" => page("text/html", Body::from("<title>Harbour</title><h1>Deep</h1><p>water")),
        "/moved" => to("/page"),
        "/round" => to("/round"),
        "/metadata" => to("http://169.254.169.254/latest/meta-data/"),
        "/near" => to("http://127.0.0.1:1/secret"),
        "/file" => to("file:///etc/passwd"),
        "/password" => to("http://user:canary@example.com/"),
        "/nowhere" => to("http://[broken"),
        "/huge" => page("text/plain", Body::from("x".repeat(100_001))),
        "/endless" => page("text/plain", Body::from_stream(endless())),
        "/bomb" => {
            let body = Body::from(gzip_of_zeros());
            Response::builder()
                .header("content-type", "text/plain")
                .header("content-encoding", "gzip")
                .body(body)
                .unwrap()
        }
        "/silent" => {
            page("text/plain", Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>()))
        }
        "/mute" => std::future::pending().await,
        "/pdf" => page("application/pdf", Body::from("%PDF-1.7")),
        "/broken" => {
            let parts: [Result<&str, std::io::Error>; 2] = [Ok("half"), Err(std::io::Error::other("cut"))];
            page("text/plain", Body::from_stream(futures::stream::iter(parts)))
        }
        _ => Response::builder().status(StatusCode::NOT_FOUND).body(Body::empty()).unwrap(),
    }
}

fn endless() -> impl futures::Stream<Item = Result<Vec<u8>, std::io::Error>> {
    futures::stream::repeat_with(|| Ok(vec![b'x'; 10_000]))
}

/// A gzip stream of about a kilobyte that decompresses to a megabyte of zeros. It uses one block with fixed codes, because stored
/// blocks are not compressed.
fn gzip_of_zeros() -> Vec<u8> {
    // Header, then blocks with fixed codes: a literal zero, matches of length 258 at distance 1, and the end.
    let mut bits: Vec<bool> = vec![true, true, false];
    let push = |bits: &mut Vec<bool>, code: u32, length: u32| {
        bits.extend((0..length).rev().map(|at| code >> at & 1 == 1));
    };
    push(&mut bits, 0x30, 8);
    for _ in 0..4_000 {
        push(&mut bits, 0xc5, 8);
        push(&mut bits, 0, 5);
    }
    push(&mut bits, 0, 7);
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for chunk in bits.chunks(8) {
        bytes.push(chunk.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at));
    }
    bytes
}

#[tokio::test]
async fn a_page_is_fetched_through_redirects_without_keys_or_cookies() {
    let site = Site::start().await;
    let Ok(Fetched::Page(page)) = site.fetch("/moved").await else { panic!("no page") };
    assert_eq!((page.title.as_str(), page.text.as_str()), ("Harbour", "# Deep\n\nwater"));
    assert_eq!(page.url, site.url("/page").as_str());
    let seen = site.seen.lock().unwrap();
    assert_eq!(seen.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["/moved", "/page"]);
    for (_, headers) in seen.iter() {
        assert!(headers["user-agent"].to_str().unwrap().starts_with("rhumb/"));
        for name in ["cookie", "authorization", "referer", "x-api-key"] {
            assert!(!headers.contains_key(name), "{headers:?}");
        }
    }
}

#[tokio::test]
async fn a_non_public_host_is_not_connected_to() {
    let site = Site::start().await;
    let error = fetch_page(&site.url("/page"), &[], limits(), &|_| {}).await.unwrap_err();
    assert!(matches!(error, WebError::NonPublic { .. }), "{error:?}");
    assert!(site.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_is_checked_like_a_typed_url() {
    let site = Site::start().await;
    for (path, said) in [
        ("/metadata", "metadata service"),
        ("/near", "127.0.0.1:1, which is this machine"),
        ("/file", "only http and https"),
        ("/password", "holds a user"),
        ("/nowhere", "redirects to something"),
        ("/round", "more than 5 redirects"),
        ("/gone", "status 404"),
    ] {
        let error = site.fetch(path).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(said) && !text.contains("canary") && !error.hint().is_empty(), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_page_larger_than_the_limit_is_refused_in_every_transfer() {
    let site = Site::start().await;
    for path in ["/huge", "/endless", "/bomb"] {
        assert!(matches!(site.fetch(path).await, Err(WebError::TooLarge { .. })), "{path}");
    }
    assert!(matches!(site.fetch("/pdf").await, Err(WebError::NotText { .. })));
    assert!(matches!(site.fetch("/broken").await, Err(WebError::Broken { .. })));
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let site = Site::start().await;
    let short = Duration::from_millis(150);
    for path in ["/silent", "/mute"] {
        let limits = Limits { idle: short, ..limits() };
        let error = fetch_page(&site.url(path), &site.allowed(), limits, &|_| {}).await.unwrap_err();
        assert!(matches!(error, WebError::Timeout { silent: true, .. }), "{error:?}");
    }
    let limits = Limits { bytes: usize::MAX, total: short, ..limits() };
    let error = fetch_page(&site.url("/endless"), &site.allowed(), limits, &|_| {}).await.unwrap_err();
    assert!(matches!(error, WebError::Timeout { silent: false, .. }), "{error:?}");
}
