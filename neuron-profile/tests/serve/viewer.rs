//! The viewer's files, served from a directory. What they do is tested in a
//! browser (neuron-profile/web/e2e).

use std::fs;

use super::server::Server;

#[test]
fn pages_of_the_viewer_are_one_file_with_a_strict_policy() {
    let (data, site) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(site.path().join("assets")).unwrap();
    fs::write(site.path().join("index.html"), "<!doctype html>viewer").unwrap();
    fs::write(site.path().join("favicon.svg"), "<svg/>").unwrap();
    fs::write(site.path().join("assets/index-1.js"), "1").unwrap();
    fs::write(site.path().join("assets/index-1.css"), "a{}").unwrap();
    fs::write(site.path().join("../viewer-secret"), "no").unwrap();
    let server = Server::with_viewer(data.path(), site.path());
    for page in ["/", "/profile/n_x", "/compare?ids=a,b"] {
        let answer = server.get(page);
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "<!doctype html>viewer"),
            "{page}"
        );
        let head = answer.head.to_lowercase();
        assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
        assert!(head.contains("cache-control: no-cache"), "{head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
        let policy = head.lines().find(|line| line.starts_with("content-security-policy")).unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"));
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    }
    for (path, kind) in [
        ("/assets/index-1.js", "text/javascript"),
        ("/assets/index-1.css", "text/css"),
        ("/favicon.svg", "image/svg+xml"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let head = answer.head.to_lowercase();
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
        assert_eq!(head.contains("immutable"), path.starts_with("/assets/"), "{head}");
    }
    // A page that the browser has is not sent again, until it is another one.
    let head = server.get("/").head;
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let again = |tag: &str| {
        let request = format!(
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIf-None-Match: {tag}\r\n\r\n"
        );
        server.raw(&request, b"")
    };
    assert_eq!((again(&tag).status, again(&tag).body.len()), (304, 0));
    fs::write(site.path().join("index.html"), "<!doctype html>another").unwrap();
    assert_eq!(again(&tag).status, 200);
    for gone in ["/assets/x.js", "/assets/..%2findex.html", "/assets/..%2f..%2fviewer-secret"] {
        assert_eq!(server.get(gone).status, 404, "{gone}");
    }
    fs::remove_file(site.path().join("../viewer-secret")).unwrap();
}

#[test]
fn a_viewer_that_is_not_there_says_how_to_build_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::with_viewer(data.path(), &data.path().join("nowhere"));
    let answer = server.get("/");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("cargo xtask web"), "{}", answer.text());
    let plain = Server::start(data.path(), &[]);
    assert!(plain.get("/").text().contains("cargo xtask web"));
}
