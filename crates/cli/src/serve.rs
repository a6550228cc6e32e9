//! The option --serve: a page of the work in progress, on the loopback address.
//!
//! One thread answers, and never waits for a browser: its sockets do not block, and requests, time
//! and connections are limited. It reads what the run has written and what the progress line shows,
//! so the run does not know of it. Sites in the same browser cannot read anything: the address has
//! a random token, and `Host` and `Origin` must be those of the address, which also stops a name of
//! another site that resolves to 127.0.0.1.

use crate::options::heading;
use crate::progress;
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::run_file::open_plain;
use cosim_formats::run::{EXPLAINED, FAILURES, HTML};
use httparse::{Request, Status};
use minijinja::{Environment, context};
use rand::RngExt;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use verilated_build::activity;

/// How often sockets are polled.
const TICK: Duration = Duration::from_millis(20);
/// Time for a request and its reply.
const LIMIT: Duration = Duration::from_secs(30);
/// Open connections. A new one closes the oldest.
const MOST_CONNECTIONS: usize = 32;
/// Bytes of a request, and its headers.
const MOST_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// Bytes that a connection sends before the next has its turn.
const TURN: usize = 1 << 20;
/// Failures that the page lists for each run.
const MOST_FAILURES: usize = 200;
const PAGE: &str = include_str!("serve/page.html");
/// For each reply. A page of a run directory has its style and script inline, and loads nothing.
const HEADERS: &str = "Connection: close\r\nCache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'\r\n";

/// Whether to serve a page.
#[derive(Debug, Clone, Copy, Args)]
pub struct Serving {
    /// Show progress and failures in a browser of this machine while the command works; prints the
    /// address.
    #[arg(long, help_heading = heading::OUTPUT, hide_short_help = true)]
    serve: bool,
}

impl Serving {
    /// Begins to serve, if the user asks for that, and prints the address.
    ///
    /// # Errors
    /// [`Error::Environment`] if the system has no port or no thread.
    pub fn begin(self) -> Result<Option<Server>, Error> {
        if !self.serve {
            return Ok(None);
        }
        let server = Server::new().map_err(|error| {
            let message = format!("cannot serve a page on 127.0.0.1: {error}; leave out --serve");
            Error::Environment(codes::SYSTEM, message)
        })?;
        program::print_note(format_args!("{}", server.site.address()));
        Ok(Some(server))
    }
}

/// Serves until it is dropped.
pub struct Server {
    site: Arc<Site>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn new() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let site = Arc::new(Site {
            port: listener.local_addr()?.port(),
            token: format!("{:032x}", rand::rng().random::<u128>()),
            runs: OnceLock::new(),
            ended: AtomicBool::new(false),
        });
        let served = Arc::clone(&site);
        let thread = thread::Builder::new().name("serve".to_owned());
        let thread = thread.spawn(move || served.serve(&listener))?;
        Ok(Self { site, thread: Some(thread) })
    }

    /// Shows these run directories, from their beginning. Later calls have no effect.
    pub fn show(&self, runs: impl IntoIterator<Item = PathBuf>) {
        let _ = self.site.runs.set(runs.into_iter().collect());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.site.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is served.
struct Site {
    port: u16,
    token: String,
    runs: OnceLock<Vec<PathBuf>>,
    ended: AtomicBool,
}

impl Site {
    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    fn serve(&self, listener: &TcpListener) {
        let mut open: Vec<Connection> = Vec::new();
        while !self.ended.load(Ordering::Relaxed) {
            for _ in 0..MOST_CONNECTIONS {
                let Ok((stream, _)) = listener.accept() else { break };
                if stream.set_nonblocking(true).is_ok() {
                    if open.len() == MOST_CONNECTIONS {
                        open.remove(0);
                    }
                    open.push(Connection::new(stream));
                }
            }
            open.retain_mut(|one| one.advance(self));
            thread::sleep(TICK);
        }
    }

    /// The reply to the bytes of a request, unless they are only its beginning.
    fn reply(&self, bytes: &[u8]) -> Option<Reply> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(Status::Complete(_)) => Some(self.answer(&request)),
            Ok(Status::Partial) if bytes.len() < MOST_BYTES => None,
            Ok(Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                Some(Reply::refusal("431 Request Header Fields Too Large"))
            }
            Err(_) => Some(Reply::refusal("400 Bad Request")),
        }
    }

    fn answer(&self, request: &Request<'_, '_>) -> Reply {
        let values = |name: &str| {
            let named = request.headers.iter().filter(|one| one.name.eq_ignore_ascii_case(name));
            named.map(|one| one.value).collect::<Vec<_>>()
        };
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let host = hosts.iter().find(|host| values("host") == [host.as_bytes()]);
        let Some(host) = host else { return Reply::refusal("403 Forbidden") };
        let origin = format!("http://{host}");
        if values("origin").iter().any(|value| *value != origin.as_bytes()) {
            return Reply::refusal("403 Forbidden");
        }
        if request.method != Some("GET") {
            return Reply::refusal("405 Method Not Allowed");
        }
        let path = request.path.unwrap_or_default().split('?').next().unwrap_or_default();
        let path = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let found = match path {
            Some((token, path)) if token == self.token => match path {
                "" => self.page(false),
                "state" => self.page(true),
                path => self.file(path),
            },
            _ => None,
        };
        found.unwrap_or_else(|| Reply::refusal("404 Not Found"))
    }

    /// The page, or the part of it that changes.
    fn page(&self, is_part: bool) -> Option<Reply> {
        let runs: Vec<_> = self.runs.get().into_iter().flatten().map(|run| shown(run)).collect();
        let progress = progress::sentence(&activity::current(), false);
        let values = context! { is_part, runs, progress };
        let page = Environment::new().render_named_str("page.html", PAGE, values).ok()?;
        Some(Reply::new("200 OK", "text/html; charset=utf-8", page.len() as u64, page.as_bytes()))
    }

    /// The file `RUN/NAME` or `RUN/FOLDER/NAME`, where RUN is a number.
    fn file(&self, path: &str) -> Option<Reply> {
        let parts: Vec<&str> = path.split('/').collect();
        let (run, below, name) = match parts[..] {
            [run, name] => (run, ".", name),
            [run, below, name] if is_plain(below) => (run, below, name),
            _ => return None,
        };
        let run = self.runs.get()?.get(run.parse::<usize>().ok()?)?;
        let file = is_plain(name).then(|| open_plain(run, below, OsStr::new(name)).ok())??;
        let kind = match Path::new(name).extension().and_then(OsStr::to_str) {
            _ if name == HTML => "text/html; charset=utf-8",
            Some("json" | "md" | "v" | "xml") => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        };
        let size = file.metadata().ok()?.len();
        let reply = Reply::new("200 OK", kind, size, b"");
        Some(Reply { file: Some(file.take(size)), ..reply })
    }
}

/// Whether this names a file or a folder in a run directory, and no other place.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
}

/// A run on the page: its directory, its files so far, its failures with the files of each.
fn shown(run: &Path) -> minijinja::Value {
    let folder = run.join(FAILURES);
    let is_folder = folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let entries = is_folder.then(|| fs::read_dir(&folder).ok()).flatten();
    let names = entries.into_iter().flatten().flatten();
    let mut names: Vec<String> =
        names.filter_map(|one| one.file_name().into_string().ok()).collect();
    names.retain(|name| is_plain(name));
    names.sort();
    let vectors = names.iter().filter_map(|name| name.strip_suffix(".json"));
    let vectors = vectors.filter(|stem| {
        ["original", "explained"]
            .iter()
            .all(|kind| Path::new(stem).extension() != Some(kind.as_ref()))
    });
    let has = |name: String| names.binary_search(&name).is_ok().then_some(name);
    let failures: Vec<_> = vectors
        .map(|stem| {
            let (explained, waves) =
                (has(format!("{stem}.{EXPLAINED}")), has(format!("{stem}.fst")));
            context! { stem, explained, waves }
        })
        .collect();
    let (page, more) = (run.join(HTML).is_file(), failures.len().saturating_sub(MOST_FAILURES));
    let failures = &failures[..failures.len() - more];
    context! { folder => run.display().to_string(), page, failures, more }
}

/// A connection, for one request.
struct Connection {
    stream: TcpStream,
    began: Instant,
    request: Vec<u8>,
    reply: Option<Reply>,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self { stream, began: Instant::now(), request: Vec::new(), reply: None }
    }

    /// Reads and writes what is possible at once. Returns whether the connection stays open.
    fn advance(&mut self, site: &Site) -> bool {
        let mut step = || -> io::Result<bool> {
            let mut bytes = [0; 4096];
            while self.reply.is_none() {
                match self.stream.read(&mut bytes)? {
                    0 => return Ok(false),
                    length => self.request.extend_from_slice(&bytes[..length]),
                }
                self.reply = site.reply(&self.request);
            }
            match &mut self.reply {
                Some(reply) => reply.send(&mut self.stream),
                None => Ok(true),
            }
        };
        let is_waiting = |error: io::Error| {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        };
        self.began.elapsed() < LIMIT && step().unwrap_or_else(is_waiting)
    }
}

/// A reply that is being sent.
struct Reply {
    bytes: Vec<u8>,
    sent: usize,
    /// What follows the bytes.
    file: Option<io::Take<File>>,
}

impl Reply {
    fn new(status: &str, kind: &str, length: u64, body: &[u8]) -> Self {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{HEADERS}\r\n"
        );
        Self { bytes: [head.as_bytes(), body].concat(), sent: 0, file: None }
    }

    fn refusal(status: &str) -> Self {
        let (kind, body) = ("text/plain; charset=utf-8", format!("{status}\n"));
        Self::new(status, kind, body.len() as u64, body.as_bytes())
    }

    /// Sends what the stream takes. Returns whether more is left.
    fn send(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        let mut turn = 0;
        while turn < TURN {
            if self.sent == self.bytes.len() {
                let Some(file) = &mut self.file else { return Ok(false) };
                self.bytes.resize(64 << 10, 0);
                let length = file.read(&mut self.bytes)?;
                self.bytes.truncate(length);
                self.sent = 0;
                if length == 0 {
                    return Ok(false);
                }
            }
            let length = stream.write(&self.bytes[self.sent..])?;
            self.sent += length;
            turn += length;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
