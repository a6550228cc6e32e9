use super::*;
use std::os::unix::fs::symlink;
use std::sync::mpsc::channel;
use tempfile::TempDir;

/// A server with one run directory, and the folder above it.
fn server() -> (Server, TempDir) {
    let above = TempDir::new().unwrap();
    let run = above.path().join("run");
    fs::create_dir_all(run.join(FAILURES)).unwrap();
    for (name, text) in [
        ("secret.json", "secret"),
        ("run/report.html", "<p>report</p>"),
        ("run/run.lock", "lock"),
        ("run/.hidden", "secret"),
        ("run/failures/a-1.json", "vector"),
        ("run/failures/a-1.explained.json", "explanation"),
        ("run/failures/a-1.original.json", "original"),
        ("run/failures/<b>.json", "secret"),
    ] {
        fs::write(above.path().join(name), text).unwrap();
    }
    symlink(above.path().join("secret.json"), run.join("link.json")).unwrap();
    symlink(above.path(), run.join("saved")).unwrap();
    let server = Server::new().unwrap();
    server.show([run]);
    (server, above)
}

/// Sends bytes and returns what the server replies until it closes the connection.
fn exchange(site: &Site, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    // The server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8(reply).unwrap()
}

/// A request for a path below the token, as a browser sends it.
fn get(site: &Site, path: &str) -> String {
    let (port, token) = (site.port, &site.token);
    let text = format!("GET /{token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    exchange(site, text.as_bytes())
}

#[test]
fn files_of_the_run_directory_are_served_and_nothing_else() {
    let (server, _above) = server();
    let served = [
        ("0/report.html", "text/html", "<p>report</p>"),
        ("0/report.html?q=1", "text/html", "<p>report</p>"),
        ("0/run.lock", "application/octet-stream", "lock"),
        ("0/failures/a-1.json", "text/plain", "vector"),
        ("0/failures/a-1.explained.json", "text/plain", "explanation"),
    ];
    for (path, kind, body) in served {
        let reply = get(&server.site, path);
        assert!(reply.starts_with("HTTP/1.1 200 "), "{path}: {reply}");
        assert!(reply.contains(&format!("Content-Type: {kind}")), "{path}: {reply}");
        assert_eq!(reply.split_once("\r\n\r\n").unwrap().1, body, "{path}");
    }
    let refused = [
        "0/../secret.json",
        "../secret.json",
        "0/failures/../../secret.json",
        "0/%2e%2e/secret.json",
        "0/..%2fsecret.json",
        "0//secret.json",
        "0/./report.html",
        "0/link.json",
        "0/saved/secret.json",
        "0/.hidden",
        "0/failures",
        "0/failures/",
        "0/failures/<b>.json",
        "0/",
        "0",
        "1/report.html",
        "-1/report.html",
        "99999999999999999999/report.html",
        "/etc/passwd",
        "0//etc/passwd",
        "0/report.html/",
        "0/failures\\..\\secret.json",
        "state/",
    ];
    for path in refused {
        let reply = get(&server.site, path);
        let is_refused = ["404 ", "400 "].iter().any(|code| reply[9..].starts_with(code));
        assert!(is_refused && !reply.contains("secret"), "{path}: {reply}");
    }
}

#[test]
fn requests_of_other_sites_and_wrong_requests_are_refused() {
    let (server, _above) = server();
    let site = &server.site;
    let (port, token) = (site.port, &site.token);
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let long = "a".repeat(1 << 20);
    let many = "X: y\r\n".repeat(MOST_HEADERS + 1);
    let path = format!("/{token}/");
    let line = format!("GET {path} HTTP/1.1\r\n");
    let cases = [
        (format!("{line}{host}\r\n"), "200"),
        (format!("{line}Host: localhost:{port}\r\n\r\n"), "200"),
        (format!("{line}{host}Origin: http://127.0.0.1:{port}\r\n\r\n"), "200"),
        // Another name that resolves to this machine.
        (format!("{line}Host: evil.example:{port}\r\n\r\n"), "403"),
        (format!("{line}Host: 127.0.0.1.evil.example:{port}\r\n\r\n"), "403"),
        (format!("{line}Host: 127.0.0.1\r\n\r\n"), "403"),
        (format!("{line}{host}Host: evil.example\r\n\r\n"), "403"),
        (format!("{line}{host}{host}\r\n"), "403"),
        (format!("{line}\r\n"), "403"),
        (format!("{line}{host}Origin: https://evil.example\r\n\r\n"), "403"),
        (format!("{line}{host}Origin: null\r\n\r\n"), "403"),
        (format!("{line}{host}Origin: http://localhost:{port}\r\n\r\n"), "403"),
        (format!("{line}{host}Origin: http://127.0.0.1:1\r\n\r\n"), "403"),
        (format!("POST {path} HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\nhello"), "405"),
        (format!("HEAD {path} HTTP/1.1\r\n{host}\r\n"), "405"),
        (format!("OPTIONS {path} HTTP/1.1\r\n{host}\r\n"), "405"),
        (format!("GET / HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("GET /{token} HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("GET /{}/ HTTP/1.1\r\n{host}\r\n", &token[1..]), "404"),
        (format!("GET /{token}0/ HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("GET //state HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("GET http://127.0.0.1:{port}{path} HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("GET /{long} HTTP/1.1\r\n{host}\r\n"), "431"),
        (format!("{line}{host}X: {long}\r\n\r\n"), "431"),
        (format!("{line}{host}{many}\r\n"), "431"),
        ("\u{16}\u{3}\u{1}nonsense\r\n\r\n".to_owned(), "400"),
        (format!("GET {path}\r\n\r\n"), "400"),
    ];
    for (request, expected) in cases {
        let reply = exchange(site, request.as_bytes());
        let shown: String = request.chars().take(120).collect();
        assert_eq!(reply.get(9..12), Some(expected), "{shown}");
        assert!(reply.contains("Content-Security-Policy: default-src 'none'"), "{shown}");
        assert!(!reply.contains("Access-Control"), "{shown}");
        assert_eq!(reply.contains("a-1.explained.json"), expected == "200", "{shown}");
    }
}

#[test]
fn the_page_lists_the_failures_so_far() {
    let (server, above) = server();
    let state = get(&server.site, "state");
    let links = ["0/report.html", "0/failures/a-1.json", "0/failures/a-1.explained.json"];
    for link in links {
        assert!(state.contains(&format!("href=\"{link}\"")), "{link}: {state}");
    }
    assert!(!state.contains("original") && !state.contains("<b>"), "{state}");
    assert!(!state.contains("<html") && get(&server.site, "").contains("<html"));
    // A failure that is found later.
    fs::write(above.path().join("run/failures/a-2.json"), "vector").unwrap();
    assert!(get(&server.site, "state").contains("0/failures/a-2.json"));
}

/// Browsers that send nothing, a part or that never read keep nobody out, and the end does not wait
/// for them.
#[test]
fn hanging_connections_delay_nobody() {
    let (server, above) = server();
    let site = Arc::clone(&server.site);
    fs::write(above.path().join("run/big.json"), vec![b'x'; 64 << 20]).unwrap();
    let big =
        format!("GET /{}/0/big.json HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", site.token, site.port);
    let mut hanging = Vec::new();
    for sent in ["", "GET /", &big].into_iter().cycle().take(3 * MOST_CONNECTIONS) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        hanging.push(stream);
    }
    assert!(get(&site, "state").starts_with("HTTP/1.1 200 "));
    let (ended, end) = channel();
    thread::spawn(move || {
        drop(server);
        ended.send(()).unwrap();
    });
    // Far less than the time that a connection has.
    assert_eq!(end.recv_timeout(LIMIT / 2), Ok(()));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).is_err());
}
