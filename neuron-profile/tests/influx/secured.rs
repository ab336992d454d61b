//! The database behind TLS: believed when its authority is named, else given
//! nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::front::{Front, Keeper};
use crate::{Place, ended, opened, same, upload};

/// A certificate of `localhost`, by openssl.
fn certificate(dir: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=an authority of ours"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(dir.join("key"))
        .arg("-out")
        .arg(dir.join("cert"))
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
}

/// Carries bytes both ways until one side has ended.
fn carry(mut far: StreamOwned<ServerConnection, TcpStream>, mut near: TcpStream) -> Option<()> {
    let short = Some(Duration::from_millis(2));
    far.sock.set_read_timeout(short).ok()?;
    near.set_read_timeout(short).ok()?;
    let mut bytes = vec![0; 1 << 16];
    loop {
        for way in [0, 1] {
            let read = if way == 0 { far.read(&mut bytes) } else { near.read(&mut bytes) };
            let some = match read {
                Ok(0) => return far.flush().ok(),
                Ok(some) => bytes.get(..some)?,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    continue;
                }
                Err(_) => return None,
            };
            if way == 0 { near.write_all(some).ok()? } else { far.write_all(some).ok()? }
        }
    }
}

/// A port with TLS before one without; and how many connections it took.
fn secured(dir: &Path, plain: u16) -> (u16, Arc<AtomicUsize>) {
    let cert = CertificateDer::from_pem_file(dir.join("cert")).unwrap();
    let key = PrivateKeyDer::from_pem_file(dir.join("key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert], key)
        .unwrap();
    let (config, taken) = (Arc::new(config), Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, count) = (Arc::clone(&config), Arc::clone(&count));
            std::thread::spawn(move || {
                let session = ServerConnection::new(config).unwrap();
                let mut far = StreamOwned::new(session, stream.unwrap());
                // The client ends the handshake, or nothing is carried.
                far.conn.complete_io(&mut far.sock).ok()?;
                count.fetch_add(1, Ordering::Relaxed);
                carry(far, TcpStream::connect(("127.0.0.1", plain)).unwrap())
            });
        }
    });
    (port, taken)
}

#[test]
fn https_is_spoken_with_whom_an_authority_vouches_for() {
    if !neuron_tests::require("openssl") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    certificate(dir.path());
    let front = Front::start(Keeper::Memory);
    let (port, taken) = secured(dir.path(), front.port);
    let place = Place { url: format!("https://localhost:{port}"), ..Place::of(&front) };
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = upload(&Place::of(&front), data.path(), &[]);
    let fetch = |bundle: &Path| {
        let mut command = place.tool(other.path(), &["view", "--ingest-only", "--db-bucket", &id]);
        ended(&command.env_remove("SSL_CERT_DIR").env("SSL_CERT_FILE", bundle).output().unwrap())
    };
    // Nobody vouches for it: one line that says what to do, and no token was sent.
    let system = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if system.exists() {
        let (code, out, err) = fetch(system);
        assert_eq!((code, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
        assert!(err.contains("cannot trust InfluxDB at https://localhost"), "{err}");
        assert!(err.contains("ertificate") && err.contains("SSL_CERT_FILE"), "{err}");
        assert_eq!(taken.load(Ordering::Relaxed), 0);
    }
    let (code, out, err) = fetch(&dir.path().join("gone"));
    assert_eq!((code, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
    assert!(err.contains("no certificates to trust"), "{err}");
    let (code, _, err) = fetch(&dir.path().join("cert"));
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(taken.load(Ordering::Relaxed) > 2);
    same(&opened(data.path(), &id), &opened(other.path(), &id));
    // The same for what changes something.
    let mut command = place.tool(data.path(), &["delete", &id]);
    command.env_remove("SSL_CERT_DIR").env("SSL_CERT_FILE", dir.path().join("cert"));
    let (code, _, err) = ended(&command.output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    assert!(front.state().buckets.is_empty());
}
