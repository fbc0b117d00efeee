//! What lies between here and the server: names, secure connections, proxies, and bytes that only drip.

use super::*;

/// A server that is no secure one, whatever it is asked, and counts who comes.
async fn insecure(answer: &'static [u8]) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let came = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&came);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(answer).await;
        }
    });
    (base, came)
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_at_once_and_without_the_key() {
    // Plain HTTP, and an alert of TLS itself: the handshake failed.
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[21, 3, 3, 0, 2, 2, 40]] {
        let (base, came) = insecure(answer).await;
        let (end, events) = ask(&server(&base)).await;
        let Err(error @ LlmError::Insecure { .. }) = end else { panic!("{end:?}") };
        assert!(error.to_string().contains(&base) && error.hint().contains("http://"), "{error}");
        assert!(!format!("{error:?} {events:?}").contains("canary"));
        // It would be no better at the next try.
        assert_eq!((came.load(std::sync::atomic::Ordering::SeqCst), retries(&events)), (1, 0));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_handshake_is_tried_again() {
    let (base, came) = insecure(b"").await;
    let (end, events) = ask(&server(&base)).await;
    assert!(matches!(end, Err(LlmError::Connect { .. })), "{end:?}");
    assert_eq!((came.load(std::sync::atomic::Ordering::SeqCst), retries(&events)), (3, 2));
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told() {
    // No name below this one ever exists.
    let end = ask(&once(server("http://nowhere.invalid/v1"))).await.0;
    let Err(LlmError::Connect { url, cause }) = end else { panic!("{end:?}") };
    assert!(url.starts_with("http://nowhere.invalid/v1") && !cause.is_empty(), "{url} {cause}");
}

#[tokio::test]
async fn a_proxy_that_wants_a_name_is_told_from_a_server_that_wants_a_key() {
    for api in Api::ALL {
        let (base, seen) = canned(vec![(407, vec![("proxy-authenticate", "Basic")], "who are you".into())]).await;
        let (end, events) = ask(&server_of(&endpoint(api, &base, "sk-canary"))).await;
        let Err(error @ LlmError::Proxy { .. }) = end else { panic!("{}: {end:?}", api.name()) };
        assert!(error.to_string().contains("who are you") && error.hint().contains("HTTPS_PROXY"), "{error}");
        assert_eq!((seen.lock().unwrap().len(), retries(&events)), (1, 0));
    }
}

#[tokio::test]
async fn a_stream_that_drips_without_ever_saying_anything_times_out() {
    for api in Api::ALL {
        let half = stream(api).find("🚀").unwrap();
        // Bytes come all the time, and no piece of the answer ever does.
        let drip = Step::Drip(b"x".to_vec(), TINY / 20);
        let (base, hung_up) = rude(vec![vec![head(""), send(&stream(api)[..half]), drip]]).await;
        let timeouts = Timeouts { connect: LONG, first_byte: LONG, idle: TINY };
        let (end, events) = ask(&server_of(&endpoint(api, &base, "")).with_timeouts(timeouts)).await;
        assert_eq!(end, Err(LlmError::Idle { seconds: 1 }), "{}", api.name());
        assert_eq!(text(&events), "done é", "{}", api.name());
        tokio::time::timeout(LONG, hung_up).await.unwrap().unwrap();
    }
}
