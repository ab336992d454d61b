//! The server of `neuron-profile view`: one port, for pages and the HTTP
//! interface.

mod access;
mod answer;
mod api;
mod assets;
mod jobs;
mod listener;
mod live;
mod opened;
mod pages;
mod peer;
pub mod socket;
mod uploads;
mod wire;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use profile_store::Store;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use access::{Access, COOKIE};
use answer::Trouble;
use assets::Viewer;
use listener::{Guarded, Peer};
use opened::Opened;

/// How long requests that are under way may go on after a signal.
const DRAIN: Duration = Duration::from_secs(2);

/// Where to listen.
#[derive(Debug, Clone, clap::Args)]
pub struct Listen {
    /// Port of the viewer; 0 for any that is free
    #[arg(short, long, default_value_t = 3001)]
    port: u16,

    /// Address to listen on, to be reached from other machines; then the printed link has a token
    #[arg(long, value_name = "ADDRESS")]
    host: Option<std::net::IpAddr>,

    /// Largest file that the viewer may upload
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    upload_limit: u64,
}

/// Serves the profiles of a store until a signal. `page` is what the printed
/// link opens: a profile's id, or the list.
///
/// # Errors
///
/// A port that is taken, an address that is not of this machine.
pub fn serve(
    store: Store,
    listen: &Listen,
    page: Option<&str>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot make threads")?.block_on(async {
        let ip = listen.host.unwrap_or_else(|| std::net::Ipv4Addr::LOCALHOST.into());
        let open = !ip.is_loopback();
        let at = SocketAddr::new(ip, listen.port);
        let listener = TcpListener::bind(at).await;
        let listener =
            listener.with_context(|| format!("cannot listen on {at}, choose another --port"))?;
        let port = listener::place(&listener)?.port();
        let access = if open { Access::with_token()? } else { Access::loopback() };
        // Before the link is told, so that nobody who reads it kills us.
        let on = |kind| signal(kind).context("cannot catch signals");
        let (mut ctrl_c, mut term) = (on(SignalKind::interrupt())?, on(SignalKind::terminate())?);
        if open {
            let text = "everybody who has the link can read and change all profiles";
            crate::output::tell("warning", [text.to_owned()]);
        }
        let name = match ip {
            _ if !open => String::from("localhost"),
            ip if ip.is_unspecified() => host_name(),
            ip if ip.is_ipv6() => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let (what, path) = match page {
            Some(id) => ("View profile at", format!("profile/{id}")),
            None => ("View a list of profiles at", String::new()),
        };
        let (opened, queue) = Opened::new(store, listen.upload_limit << 20);
        let opened = Arc::new(opened);
        writeln!(out, "{what} http://{name}:{port}/{path}{}", access.query())?;
        writeln!(out, "ctrl-c to exit")?;
        out.flush()?;
        let background = Background::start(&opened, queue);
        let app = router(Arc::clone(&opened), access.clone());
        let service = app.into_make_service_with_connect_info::<Peer>();
        let (send, asked) = tokio::sync::oneshot::channel::<()>();
        let server = axum::serve(Guarded::new(listener, access), service)
            .with_graceful_shutdown(async move {
                let _ = asked.await;
            })
            .into_future();
        let mut server = std::pin::pin!(server);
        tokio::select! {
            done = &mut server => {
                opened.finish();
                background.finish(&opened);
                return done.context("the server broke off");
            }
            _ = ctrl_c.recv() => {}
            _ = term.recv() => {}
        }
        opened.finish();
        let _ = send.send(());
        // Connections that a browser keeps open are cut.
        let _ = tokio::time::timeout(DRAIN, server).await;
        background.finish(&opened);
        Ok(())
    })
}

/// What goes on beside requests: jobs, and looks at the data path.
struct Background {
    jobs: Option<std::thread::JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    looks: tokio::task::JoinHandle<()>,
}

impl Background {
    fn start(opened: &Arc<Opened>, queue: std::sync::mpsc::Receiver<u64>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, ends) = (Arc::clone(opened), Arc::clone(&stop));
        let work = move || jobs::run(&shared.jobs, &shared.uploads, &queue, &ends);
        let thread = std::thread::Builder::new().name(String::from("jobs")).spawn(work);
        let shared = Arc::clone(opened);
        let looks = tokio::spawn(async move {
            loop {
                tokio::time::sleep(live::LOOK).await;
                let shared = Arc::clone(&shared);
                // A look that fails is made again.
                let _ = tokio::task::spawn_blocking(move || shared.live.look(&shared.store)).await;
            }
        });
        // Without a thread, jobs stay queued; nothing else depends on it.
        Self { jobs: thread.ok(), stop, looks }
    }

    /// Waits for the job that was told to stop, so that it leaves nothing.
    fn finish(mut self, opened: &Opened) {
        self.looks.abort();
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        opened.jobs.wake();
        if let Some(thread) = self.jobs.take() {
            let _ = thread.join();
        }
    }
}

/// The name of this machine, for a link.
fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { String::from("localhost") } else { name }
}

fn router(shared: Arc<Opened>, access: Access) -> Router {
    Router::new()
        .nest("/api/v1", api::router())
        .merge(pages::router(Viewer::chosen(std::env::var_os(assets::VARIABLE))))
        .fallback(async || Trouble::new(404, "there is no such page"))
        .method_not_allowed_fallback(async || Trouble::new(405, "that cannot be done here"))
        .with_state(shared)
        .layer(from_fn_with_state(Arc::new(access), guard))
}

/// The token in a query.
#[derive(Debug, Default, Deserialize)]
struct Given {
    token: Option<String>,
}

/// Lets in who may read, and says to the browser what it may do.
async fn guard(
    State(access): State<Arc<Access>>,
    ConnectInfo(Peer(admitted)): ConnectInfo<Peer>,
    given: Result<Query<Given>, QueryRejection>,
    request: Request,
    next: Next,
) -> Response {
    let token = given.ok().and_then(|Query(given)| given.token);
    let data = request.uri().path().starts_with("/api/");
    let allowed = admitted
        .and_then(|()| access.permits(request.method(), request.uri().path()))
        .and_then(|()| access.allows(request.headers(), token.as_deref()));
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err((status, reason)) => Trouble::new(status, reason).into_response(),
    };
    let headers = response.headers_mut();
    if data {
        headers.insert(header::CONTENT_SECURITY_POLICY, answer::DATA);
    }
    for (name, value) in answer::HEADERS {
        headers.entry(name).or_insert(value);
    }
    if let (Ok(()), Some(token)) = (allowed, token) {
        let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            headers.insert(header::SET_COOKIE, value);
        }
    }
    response
}
