//! `nmgr_ext_v1`, our own service: what the public files lack.

use rtd_api::nmgr_ext_v1_server::NmgrExtV1;
use rtd_api::{
    Empty, GetHealthResponse, HEg, HNn, ListModelsResponse, ModelInfo, ModelState,
    ProfileStartRequest, ProfileStopRequest, ProfileStopResponse, SetLogLevelRequest, Status,
    TensorInfo,
};
use rtd_runtime::{Code, Failure, Level};
use tonic::{Request, Response, Status as Grpc};

use super::Service;
use super::reply::ok;

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[tonic::async_trait]
impl NmgrExtV1 for Service {
    async fn list_models(
        &self,
        _request: Request<Empty>,
    ) -> Result<Response<ListModelsResponse>, Grpc> {
        let runtime = match self.runtime() {
            Ok(runtime) => runtime,
            Err(failure) => {
                let status = self.told("list_models", failure);
                return Ok(Response::new(ListModelsResponse { models: Vec::new(), status }));
            }
        };
        let model = |info: rtd_runtime::ModelInfo| {
            let place = runtime.cores().core(info.first_core);
            let (major, minor) = info.version;
            let tensor = |tensor: rtd_runtime::TensorInfo| TensorInfo {
                name: tensor.name,
                output: tensor.output,
                bytes: tensor.bytes,
                dtype: tensor.dtype.unwrap_or_default(),
                shape: tensor.shape.unwrap_or_default(),
            };
            ModelInfo {
                h_nn: Some(HNn { id: info.id }),
                h_eg: info.group.map(|id| HEg { id }),
                uuid: info.uuid.to_vec().into(),
                name: info.name,
                state: match info.state {
                    rtd_runtime::ModelState::Loaded => ModelState::Loaded,
                    rtd_runtime::ModelState::Started => ModelState::Started,
                    rtd_runtime::ModelState::Failed => ModelState::Failed,
                }
                .into(),
                nc_start: place.map_or(0, |core| core.within),
                nc_count: info.cores,
                host_bytes: info.host_bytes,
                device_bytes: info.device_bytes,
                ninfer: info.depth,
                session_id: info.session,
                neff_version: format!("{major}.{minor}"),
                tensors: info.tensors.into_iter().map(tensor).collect(),
                mla_start: place.map_or(0, |core| core.position),
                simulated_nanos: info.simulated_nanos,
            }
        };
        let models = runtime.models().into_iter().map(model).collect();
        Ok(Response::new(ListModelsResponse { models, status: ok() }))
    }

    async fn get_health(
        &self,
        _request: Request<Empty>,
    ) -> Result<Response<GetHealthResponse>, Grpc> {
        Ok(Response::new(match self.runtime() {
            Ok(runtime) => GetHealthResponse {
                serving: !*self.0.ending.borrow(),
                text: format!("{} on {}", runtime.backend_name(), runtime.cores().kind().name),
                sessions: count(runtime.sessions().len()),
                models: count(runtime.models().len()),
                in_flight: count(runtime.in_flight().0),
            },
            Err(failure) => {
                GetHealthResponse { text: failure.to_string(), ..GetHealthResponse::default() }
            }
        }))
    }

    async fn set_log_level(
        &self,
        request: Request<SetLogLevelRequest>,
    ) -> Result<Response<Status>, Grpc> {
        let request = request.into_inner();
        let level = u8::try_from(request.level).ok().filter(|level| *level <= 7);
        let result = match level {
            Some(level) if request.module.is_empty() => {
                self.0.log.set_level(level);
                let text = format!("log level {level}");
                self.0.log.line(Level::Info, "NRTD:set_log_level", &text);
                Ok(())
            }
            _ => {
                let text = "the level is 0 to 7, for all modules together";
                Err(Failure::new(Code::Invalid, "NRTD:set_log_level", text))
            }
        };
        Ok(Response::new(self.status("set_log_level", result).unwrap_or_default()))
    }

    async fn profile_start(
        &self,
        request: Request<ProfileStartRequest>,
    ) -> Result<Response<Status>, Grpc> {
        let request = request.into_inner();
        let id = request.h_nn.unwrap_or_default().id;
        let result = self.runtime().and_then(|runtime| runtime.profile_start(id, &request.name));
        Ok(Response::new(self.status("profile_start", result).unwrap_or_default()))
    }

    async fn profile_stop(
        &self,
        request: Request<ProfileStopRequest>,
    ) -> Result<Response<ProfileStopResponse>, Grpc> {
        let id = request.into_inner().h_nn.unwrap_or_default().id;
        Ok(Response::new(match self.runtime().and_then(|runtime| runtime.profile_stop(id)) {
            Ok(files) => {
                let files = files.into_iter().map(|file| file.to_string_lossy().into_owned());
                ProfileStopResponse { status: ok(), files: files.collect() }
            }
            Err(failure) => {
                let status = self.told("profile_stop", failure);
                ProfileStopResponse { status, files: Vec::new() }
            }
        }))
    }

    async fn drain(&self, _request: Request<Empty>) -> Result<Response<Status>, Grpc> {
        // one request is as good as many
        let _ = self.0.drain.try_send(());
        Ok(Response::new(Status::default()))
    }
}
