//! Whom a client believes over https: the authorities of the system, or those
//! in the file that `SSL_CERT_FILE` names, as the `influx` client has it.

use std::sync::Arc;

use ureq::tls::{Certificate, TlsConfig};

use super::client::Trouble;

/// What a connection needs to check the other side.
///
/// # Errors
///
/// No authority is known here, or their file cannot be read.
pub(super) fn trusted() -> Result<TlsConfig, Trouble> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let none = || String::from("there are none here");
        let reason = found.errors.first().map_or_else(none, ToString::to_string);
        return Err(Trouble::Authorities(reason));
    }
    let roots: Vec<_> =
        found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    Ok(config.root_certs(roots.into()).build())
}

/// Why the other side is not believed, if it is that what went wrong.
pub(super) fn distrust(error: &ureq::Error) -> Option<String> {
    let of = |error: &rustls::Error| match error {
        rustls::Error::InvalidCertificate(_) => Some(error.to_string()),
        _ => None,
    };
    match error {
        ureq::Error::Rustls(error) => of(error),
        ureq::Error::Io(error) => of(error.get_ref()?.downcast_ref()?),
        _ => None,
    }
}
