//! An S3-compatible server on loopback: moto from PyPI, a process of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The server and what it needs for S3 alone.
const PACKAGES: &[&str] = &[
    "moto==5.2.5",
    "boto3==1.44.5",
    "botocore==1.44.5",
    "s3transfer==0.19.3",
    "jmespath==1.1.0",
    "python-dateutil==2.9.0.post0",
    "six==1.17.0",
    "urllib3==2.8.0",
    "cryptography==50.0.2",
    "cffi==2.1.1",
    "pycparser==3.12",
    "requests==2.34.2",
    "certifi==2026.10.18",
    "idna==3.20",
    "charset-normalizer==3.5.2",
    "xmltodict==1.0.4",
    "werkzeug==3.1.9",
    "markupsafe==3.0.4",
    "responses==0.26.3",
    "jinja2==3.1.6",
    "flask==3.1.3",
    "flask-cors==6.0.5",
    "click==8.5.1",
    "itsdangerous==2.2.0",
    "blinker==1.9.0",
    "py-partiql-parser==0.6.3",
    "pyyaml==6.0.3",
];

/// Uploads a folder with the official client of S3 for Python.
const UPLOAD: &str = "
import boto3, os, sys
folder, bucket, prefix = sys.argv[1:]
s3 = boto3.client('s3')
if bucket not in [b['Name'] for b in s3.list_buckets()['Buckets']]:
    s3.create_bucket(Bucket=bucket)
for at, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(at, name)
        s3.upload_file(path, bucket, prefix + os.path.relpath(path, folder))
";

/// A server; dropped, it ends.
pub(crate) struct Server {
    child: Child,
    folder: PathBuf,
    endpoint: String,
}

impl Server {
    /// Starts it; `None` when it cannot be had here.
    pub(crate) fn start() -> Option<Self> {
        let folder = crate::python::packages(PACKAGES, "import moto.server, boto3")?;
        let mut command = Command::new("python3");
        command.args(["-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]);
        command.env("PYTHONPATH", &folder).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let endpoint = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.split_once("Running on ")?.1.trim().to_owned())
        });
        // What it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, folder, endpoint: endpoint.expect("the server ended") })
    }

    /// What names it to clients.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.endpoint.clone()),
            ("AWS_ACCESS_KEY_ID", String::from("test")),
            ("AWS_SECRET_ACCESS_KEY", String::from("test secret")),
            ("AWS_DEFAULT_REGION", String::from("us-east-1")),
            ("AWS_EC2_METADATA_DISABLED", String::from("true")),
            ("AWS_ALLOW_HTTP", String::from("true")),
        ]
    }

    /// Puts the files of a folder below `s3://BUCKET/PREFIX`.
    pub(crate) fn upload(&self, folder: &Path, bucket: &str, prefix: &str) {
        let mut command = Command::new("python3");
        command.args(["-c", UPLOAD]).arg(folder).args([bucket, prefix]);
        command.env("PYTHONPATH", &self.folder).envs(self.environment());
        assert!(command.status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
