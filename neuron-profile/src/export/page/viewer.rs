//! The page around a profile: the viewer in one script and one style, and the
//! policy that lets these two run and nothing else.

use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::serve::WEB_VARIABLE;

/// Script and style as they were built, gzip; none where the viewer was not.
const BUILT: Option<(&[u8], &[u8])> = include!(concat!(env!("OUT_DIR"), "/share.rs"));

/// See the module.
pub(super) struct Viewer {
    script: String,
    style: String,
}

fn unpacked(bytes: &[u8]) -> std::io::Result<String> {
    let mut out = String::new();
    GzDecoder::new(bytes).read_to_string(&mut out)?;
    Ok(out)
}

/// A script within a page: nothing in it ends it or opens a comment.
fn inner(script: &str) -> String {
    script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Viewer {
    /// The viewer of the program, or of the directory that is worked on.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(super) fn read() -> anyhow::Result<Self> {
        const NONE: &str = "this build has no viewer to put into a page: build it with cargo \
                            xtask web, and then the program";
        let worked_on = std::env::var_os(WEB_VARIABLE).filter(|text| !text.is_empty());
        let (script, style) = match worked_on {
            Some(site) if site != "plain" => {
                let dir = Path::new(&site).with_file_name("share");
                let read = |name: &str| std::fs::read_to_string(dir.join(name)).context(NONE);
                (read("viewer.js")?, read("viewer.css")?)
            }
            _ => {
                let (script, style) = BUILT.context(NONE)?;
                (unpacked(script)?, unpacked(style)?)
            }
        };
        Ok(Self { script: inner(&script), style: style.replace("</style", "<\\/style") })
    }

    /// Writes what stands before the pieces.
    pub(super) fn begin(&self, name: &str, out: &mut dyn Write) -> std::io::Result<()> {
        let name: String = name.chars().take(200).collect();
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             script-src {}; style-src {}; img-src data: blob:; font-src data:; base-uri 'none'; \
             form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
             <style>{}</style>\n</head>\n<body>\n<div id=\"root\"></div>\n\
             <noscript>The Device Viewer needs JavaScript.</noscript>\n\
             <script type=\"text/plain\" id=\"profile-archive\">",
            hash(&self.script),
            hash(&self.style),
            markup(&name),
            self.style
        )
    }

    /// Writes what stands behind them.
    pub(super) fn end(&self, index: &Value, out: &mut dyn Write) -> std::io::Result<()> {
        // No text of the profile can end the element.
        let index = index.to_string().replace('<', "\\u003c");
        write!(
            out,
            "</script>\n<script type=\"application/json\" id=\"profile-index\">{index}</script>\n\
             <script type=\"module\">{}</script>\n</body>\n</html>\n",
            self.script
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_within_ends_the_page() {
        let viewer = Viewer { script: inner("a='</script><!--'"), style: String::from("b{}") };
        let mut out = Vec::new();
        viewer.begin("<b>&", &mut out).unwrap();
        let index = serde_json::json!({ "name": "</script><script>alert(1)</script>" });
        viewer.end(&index, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert_eq!(page.matches("</script>").count(), 3);
        assert_eq!(page.matches("<script").count(), 3);
        assert!(page.contains("<title>&lt;b&gt;&amp;</title>"));
        assert!(page.contains(&hash("a='<\\/script><\\!--'")));
    }
}
