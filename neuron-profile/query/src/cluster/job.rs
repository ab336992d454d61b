//! A job of a scheduler: submit, wait, fetch, and leave nothing behind.
//!
//! A task that is lost with its executor is run again by the scheduler. Where
//! results are lost before a row of them was handed on, the whole job is
//! submitted again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ballista_core::client::BallistaClient;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::get_job_status_result::FlightProxy;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
    PartitionLocation, RemoveSessionParams, execute_query_failure_result, execute_query_result,
    job_status,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::{BALLISTA_VERSION, version};
use datafusion::arrow::record_batch::RecordBatch;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use crate::engine::Scheduler;
use crate::error::{Error, line};
use crate::session::Batches;

/// How often a job is submitted whose results were lost (our choice).
const TRIES: usize = 3;

/// Between two looks at a job: at first, and at most (our choice).
const FIRST: Duration = Duration::from_millis(10);
const MOST: Duration = Duration::from_millis(250);

/// Looks that may fail one after the other: a scheduler that starts anew or is
/// busy for a moment (our choice).
const FAILURES: usize = 3;

/// How long a scheduler may not know a job that it took (our choice).
const FORGOTTEN: Duration = Duration::from_secs(10);

/// Bytes of a message at most: plans over many files are long (our choice).
const MESSAGE: usize = 256 << 20;

/// A plan with where it goes.
pub(super) struct Job {
    scheduler: Scheduler,
    settings: Vec<KeyValuePair>,
    plan: Vec<u8>,
}

/// Why a job ended early.
#[derive(Debug)]
enum End {
    /// Results were lost: another try may have them.
    Lost(String),
    /// It would end like this again.
    Failed(String),
    /// Nobody waits for it.
    Left,
}

type Client = SchedulerGrpcClient<Channel>;

impl Job {
    pub(super) fn new(scheduler: &Scheduler, settings: Vec<KeyValuePair>, plan: Vec<u8>) -> Self {
        Self { scheduler: scheduler.clone(), settings, plan }
    }

    /// Runs it beside the caller. Who drops the batches ends it, and may wait until nothing of it is left.
    pub(super) fn start(self) -> (Batches, JoinHandle<()>) {
        let (send, receive) = channel(1);
        let running = tokio::spawn(async move { self.run(&send).await });
        (Box::pin(ReceiverStream::new(receive)), running)
    }

    async fn run(&self, send: &Sender<Result<RecordBatch, Error>>) {
        let mut end = End::Left;
        for _ in 0..TRIES {
            let mut sent = false;
            end = match self.once(send, &mut sent).await {
                Ok(()) => return,
                Err(end) => end,
            };
            if sent || !matches!(end, End::Lost(_)) {
                break;
            }
        }
        let (End::Lost(text) | End::Failed(text)) = end else { return };
        let told = format!("ballista://{}: {}", self.scheduler, line(&text));
        let _ = send.send(Err(Error::Cluster(told))).await;
    }

    async fn once(
        &self,
        send: &Sender<Result<RecordBatch, Error>>,
        sent: &mut bool,
    ) -> Result<(), End> {
        let config = GrpcClientConfig { connect_timeout_seconds: 10, ..Default::default() };
        let address = format!("http://{}", self.scheduler);
        let endpoint = create_grpc_client_endpoint(address, Some(&config));
        let endpoint = endpoint.map_err(|error| End::Failed(reason(&error)))?;
        let channel = endpoint.connect();
        let channel = tokio::select! {
            () = send.closed() => return Err(End::Left),
            channel = channel => channel.map_err(|error| {
                let text = format!("cannot reach the scheduler: {}", reason(&error));
                End::Failed(text)
            })?,
        };
        let mut client = SchedulerGrpcClient::new(channel)
            .max_encoding_message_size(MESSAGE)
            .max_decoding_message_size(MESSAGE);
        let session = session_id();
        let job = self.submit(&mut client, &session).await?;
        let done = self.results(&mut client, &job, send, sent).await;
        // What is left behind would lie there for days.
        if matches!(done, Err(End::Left)) {
            let _ = client.cancel_job(CancelJobParams { job_id: job.clone() }).await;
        }
        let clean = CleanJobDataParams { job_id: job, remove_stage_ids: Vec::new() };
        let _ = client.clean_job_data(clean).await;
        let _ = client.remove_session(RemoveSessionParams { session_id: session }).await;
        done
    }

    /// Gives the job's id.
    async fn submit(&self, client: &mut Client, session: &str) -> Result<String, End> {
        let mut request = tonic::Request::new(ExecuteQueryParams {
            session_id: session.to_owned(),
            settings: self.settings.clone(),
            operation_id: session.to_owned(),
            query: Some(Query::PhysicalPlan(self.plan.clone())),
        });
        version::insert_version_header(request.metadata_mut());
        let answer = client.execute_query(request).await.map_err(|status| {
            End::Failed(format!("the scheduler refuses: {}", status.message()))
        })?;
        let theirs = version::version_from_metadata(answer.metadata());
        let fits = version::check_compatibility(Some(BALLISTA_VERSION), theirs);
        match (answer.into_inner().result, fits) {
            (Some(execute_query_result::Result::Success(job)), Ok(())) => Ok(job.job_id),
            (Some(execute_query_result::Result::Success(job)), Err(text)) => {
                let _ = client.cancel_job(CancelJobParams { job_id: job.job_id }).await;
                Err(End::Failed(text))
            }
            (_, Err(text)) => Err(End::Failed(text)),
            (Some(execute_query_result::Result::Failure(failure)), _) => {
                use execute_query_failure_result::Failure;
                Err(End::Failed(match failure.failure {
                    Some(
                        Failure::SessionNotFound(text)
                        | Failure::PlanParsingFailure(text)
                        | Failure::SqlParsingFailure(text),
                    ) => text,
                    None => String::from("the scheduler refuses the plan"),
                }))
            }
            (None, _) => Err(End::Failed(String::from("the scheduler answered nothing"))),
        }
    }

    /// Waits for the job, then hands on its rows.
    async fn results(
        &self,
        client: &mut Client,
        job: &str,
        send: &Sender<Result<RecordBatch, Error>>,
        sent: &mut bool,
    ) -> Result<(), End> {
        let (mut pause, mut failures, mut begun) = (FIRST, 0, false);
        let mut unknown = Duration::ZERO;
        let (locations, proxy) = loop {
            let ask = client.get_job_status(GetJobStatusParams { job_id: job.to_owned() });
            let answer = tokio::select! {
                () = send.closed() => return Err(End::Left),
                answer = ask => answer,
            };
            match answer {
                Err(status) if failures == FAILURES => {
                    let text = format!("the scheduler was lost: {}", status.message());
                    return Err(End::Failed(text));
                }
                Err(_) => failures += 1,
                Ok(answer) => {
                    failures = 0;
                    let answer = answer.into_inner();
                    match answer.status.and_then(|status| status.status) {
                        Some(job_status::Status::Successful(done)) => {
                            break (done.partition_location, answer.flight_proxy);
                        }
                        Some(job_status::Status::Failed(failed)) => return Err(why(&failed.error)),
                        Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {
                            begun = true;
                        }
                        // So it is for a moment after it was submitted, and for ever where the
                        // scheduler was started anew.
                        None if begun || unknown > FORGOTTEN => {
                            let text = "the scheduler does not know the job any more";
                            return Err(End::Lost(text.to_owned()));
                        }
                        None => unknown += pause,
                    }
                }
            }
            tokio::select! {
                () = send.closed() => return Err(End::Left),
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(MOST),
            }
        };
        for location in locations {
            tokio::select! {
                () = send.closed() => return Err(End::Left),
                done = self.fetch(location, proxy.as_ref(), send, sent) => done?,
            }
        }
        Ok(())
    }

    /// Rows of a partition, from the executor that has them.
    async fn fetch(
        &self,
        location: PartitionLocation,
        proxy: Option<&FlightProxy>,
        send: &Sender<Result<RecordBatch, Error>>,
        sent: &mut bool,
    ) -> Result<(), End> {
        let layout = location.layout();
        let (Some(executor), Some(partition)) = (location.executor_meta, location.partition_id)
        else {
            return Err(End::Failed(String::from("the scheduler does not say where rows are")));
        };
        let port = u16::try_from(executor.port).unwrap_or_default();
        let direct = (executor.host.clone(), port);
        let (host, at) = match proxy {
            Some(FlightProxy::External(address)) => {
                let parts = address.rsplit_once(':');
                let parts = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
                let (host, port) = parts.ok_or_else(|| {
                    End::Failed(format!("{address} is no HOST:PORT of a proxy for results"))
                })?;
                (host.to_owned(), port)
            }
            Some(FlightProxy::Local(true)) => (self.scheduler.host.clone(), self.scheduler.port),
            Some(FlightProxy::Local(false)) | None => direct.clone(),
        };
        let lost = |error: &dyn std::fmt::Display| {
            End::Lost(format!("results are lost with executor {host}:{at}: {error}"))
        };
        let client = BallistaClient::try_new(&host, at, MESSAGE, false, None, 2, 500, 0, 0).await;
        let mut client = client.map_err(|error| lost(&error))?;
        let (id, file) = (partition.into(), location.file_id);
        let (host, port) = &direct;
        let rows =
            client.fetch_partition_proxied(&executor.id, &id, file, layout, host, *port, true);
        let mut rows = rows.await.map_err(|error| lost(&error))?;
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| lost(&error))?;
            *sent = true;
            send.send(Ok(batch)).await.map_err(|_| End::Left)?;
        }
        Ok(())
    }
}

/// What lies at the bottom of an error of the transport.
fn reason(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let text = last.to_string();
    text.rsplit_once(" (os error ").map_or(text.clone(), |(text, _)| text.to_owned())
}

/// What a failed job says. A file that an executor does not find is told with
/// what to do.
fn why(text: &str) -> End {
    let missing = ["No such file or directory", "not found:", "NotFound"];
    if missing.iter().any(|word| text.contains(word)) {
        let what = "executors read the files themselves: give them the same storage";
        return End::Failed(format!("{text}; {what}"));
    }
    End::Failed(text.to_owned())
}

/// A name of a session that no other process has.
fn session_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("neuron-profile-{}-{now:x}-{count}", std::process::id())
}
