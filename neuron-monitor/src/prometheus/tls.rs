//! HTTPS. Certificate and key are read again when their files change, so that
//! rotation needs no restart.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use neuron_core::error::io_reason;

use super::http::{ReadWrite, Wrap};
use crate::PROGRAM;

/// How often the files are looked at, at most.
const LOOK: Duration = Duration::from_secs(5);

/// A certificate and its key.
#[derive(Debug)]
pub(super) struct Tls {
    cert: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    config: Arc<ServerConfig>,
    /// What stood in the files.
    files: (Vec<u8>, Vec<u8>),
    looked: Instant,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// One line: which file, what is wrong.
    pub(super) fn read(cert: PathBuf, key: PathBuf) -> Result<Self, String> {
        let files = contents(&cert, &key)?;
        let config = config(&files).map_err(|reason| wrong(&cert, &key, &reason))?;
        let current = Mutex::new(Current { config, files, looked: Instant::now() });
        Ok(Self { cert, key, current })
    }

    /// The configuration in force. Files that are wrong change nothing.
    fn config(&self) -> Arc<ServerConfig> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked.elapsed() >= LOOK {
            current.looked = Instant::now();
            let files = contents(&self.cert, &self.key);
            if let Ok(files) = files
                && files != current.files
            {
                match config(&files) {
                    Ok(config) => current.config = config,
                    Err(reason) => {
                        let text = wrong(&self.cert, &self.key, &reason);
                        neuron_core::cli::complain(PROGRAM, &format!("{text}; the old ones stay"));
                    }
                }
                current.files = files;
            }
        }
        Arc::clone(&current.config)
    }
}

impl Wrap for Tls {
    fn wrap(&self, stream: TcpStream) -> io::Result<Box<dyn ReadWrite>> {
        let connection = ServerConnection::new(self.config()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

fn contents(cert: &PathBuf, key: &PathBuf) -> Result<(Vec<u8>, Vec<u8>), String> {
    let read = |path: &PathBuf| {
        std::fs::read(path)
            .map_err(|error| format!("cannot read {}: {}", path.display(), io_reason(&error)))
    };
    Ok((read(cert)?, read(key)?))
}

fn config((cert, key): &(Vec<u8>, Vec<u8>)) -> Result<Arc<ServerConfig>, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(cert)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("no certificate: {error}"))?;
    if chain.is_empty() {
        return Err(String::from("the certificate file holds none"));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("no key: {error}"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}

fn wrong(cert: &std::path::Path, key: &std::path::Path, reason: &str) -> String {
    format!("{} and {}: {reason}", cert.display(), key.display())
}
