//! `nmgr_v1`: the 25 methods.

use rtd_api::nmgr_v1_server::NmgrV1;
use rtd_api::*;
use rtd_runtime::{Code, Failure, GroupInfo, Level};
use tonic::{Request, Response, Status as Grpc, Streaming};

use super::Service;
use super::reply::ok;

type Reply<T> = Result<Response<T>, Grpc>;

fn reply<T>(message: T) -> Reply<T> {
    Ok(Response::new(message))
}

fn id(handle: Option<HNn>) -> u32 {
    handle.unwrap_or_default().id
}

fn eg_info(info: &GroupInfo) -> EgInfo {
    EgInfo {
        eg: Some(HEg { id: info.id }),
        vnc_start_index: info.start,
        nc_count: info.count,
        mla_start_index: info.device_start,
        nc_start_index: info.core_start,
    }
}

#[tonic::async_trait]
impl NmgrV1 for Service {
    async fn load(&self, request: Request<Streaming<LoadRequest>>) -> Reply<LoadResponse> {
        reply(match self.load_stream(request.into_inner()).await? {
            Ok(id) => LoadResponse { status: ok(), h_nn: Some(HNn { id }) },
            Err(failure) => LoadResponse { status: self.told("load", failure), h_nn: None },
        })
    }

    async fn unload(&self, request: Request<UnloadRequest>) -> Reply<UnloadResponse> {
        let id = id(request.into_inner().h_nn);
        let result = self.blocking(move |runtime| runtime.unload(id)).await;
        reply(UnloadResponse { status: self.status("unload", result) })
    }

    async fn start(&self, request: Request<StartRequest>) -> Reply<StartResponse> {
        let id = id(request.into_inner().h_nn);
        if id == 0 {
            // how clients ask whether the daemon is there (§1.5)
            self.0.log.line(Level::Debug, "NRTD:start", "ping");
            let details = "[NRTD:start] Failed to find model: 0\n";
            let code = Code::InvalidHandle.number();
            let status = Some(Status { code, details: details.into() });
            return reply(StartResponse { status });
        }
        let result = self
            .blocking(move |runtime| runtime.start(id))
            .await
            .map_err(|failure| failure.then("NRTD:start", format!("Failed to start NN: {id}")));
        reply(StartResponse { status: self.status("start", result) })
    }

    async fn stop(&self, request: Request<StopRequest>) -> Reply<StopResponse> {
        let id = id(request.into_inner().h_nn);
        let result = self.blocking(move |runtime| runtime.stop(id)).await;
        reply(StopResponse { status: self.status("stop", result) })
    }

    async fn infer(&self, request: Request<InferRequest>) -> Reply<InferResponse> {
        reply(self.infer_once(request.into_inner()).await)
    }

    async fn infer_post(&self, request: Request<InferRequest>) -> Reply<InferPostResponse> {
        reply(match self.post(request.into_inner()) {
            Ok(cookie) => InferPostResponse { status: ok(), cookie },
            Err(failure) => {
                InferPostResponse { status: self.told("infer_post", failure), cookie: 0 }
            }
        })
    }

    async fn infer_wait(&self, request: Request<InferWaitRequest>) -> Reply<InferResponse> {
        reply(self.wait(request.into_inner()).await)
    }

    async fn infer_poll(&self, request: Request<InferWaitRequest>) -> Reply<InferResponse> {
        reply(self.poll(request.into_inner()))
    }

    async fn infer_check_completion(
        &self,
        request: Request<InferCheckCompletionRequest>,
    ) -> Reply<InferCheckCompletionResponse> {
        let asked = request.into_inner().cookie;
        let done = self.runtime().and_then(|runtime| runtime.completed(&asked));
        reply(match done {
            Ok(cookie) if cookie.is_empty() && !asked.is_empty() => {
                let failure = Failure::new(Code::Pending, "NMGR:infer_check", "none is done");
                let status = self.told("infer_check_completion", failure);
                InferCheckCompletionResponse { status, cookie }
            }
            Ok(cookie) => InferCheckCompletionResponse { status: ok(), cookie },
            Err(failure) => InferCheckCompletionResponse {
                status: self.told("infer_check_completion", failure),
                cookie: Vec::new(),
            },
        })
    }

    async fn create_eg(&self, request: Request<CreateEgRequest>) -> Reply<CreateEgResponse> {
        let request = request.into_inner();
        let count = Some(request.nc_count);
        let made = self
            .runtime()
            .and_then(|runtime| runtime.create_group(count, request.session_id))
            .map_err(|failure| failure.then("NRTD:create_eg", "create_eg() failed."));
        reply(match made {
            Ok(info) => CreateEgResponse {
                status: ok(),
                h_eg: Some(HEg { id: info.id }),
                nc_count: info.count,
            },
            Err(failure) => {
                let status = self.told("create_eg", failure);
                CreateEgResponse { status, h_eg: None, nc_count: 0 }
            }
        })
    }

    async fn destroy_eg(&self, request: Request<DestroyEgRequest>) -> Reply<DestroyEgResponse> {
        let id = request.into_inner().h_eg.unwrap_or_default().id;
        let result = self.runtime().and_then(|runtime| runtime.destroy_group(id));
        reply(DestroyEgResponse { status: self.status("destroy_eg", result) })
    }

    async fn list_egs(&self, _request: Request<Empty>) -> Reply<OutListEgs> {
        reply(match self.runtime() {
            Ok(runtime) => OutListEgs {
                eg_info: runtime.groups().iter().map(eg_info).collect(),
                mla_count: u32::try_from(runtime.cores().devices().len()).unwrap_or(u32::MAX),
                nc_count: runtime.cores().count(),
                status: ok(),
            },
            Err(failure) => {
                let status = self.told("list_egs", failure);
                OutListEgs { status, ..OutListEgs::default() }
            }
        })
    }

    async fn read_nc_counters(
        &self,
        request: Request<ReadNcCountersRequest>,
    ) -> Reply<ReadNcCountersResponse> {
        reply(match self.nc_counters(request.into_inner().vnc_id) {
            Ok(counters) => ReadNcCountersResponse { nc_counters: Some(counters), status: ok() },
            Err(failure) => {
                let status = self.told("read_nc_counters", failure);
                ReadNcCountersResponse { nc_counters: None, status }
            }
        })
    }

    async fn read_nc_time_in_use(
        &self,
        request: Request<ReadNcTimeInUseRequest>,
    ) -> Reply<ReadNcTimeInUseResponse> {
        reply(match self.time_in_use(request.into_inner().vnc_id) {
            Ok(time) => ReadNcTimeInUseResponse { nc_time_in_use: Some(time), status: ok() },
            Err(failure) => {
                let status = self.told("read_nc_time_in_use", failure);
                ReadNcTimeInUseResponse { nc_time_in_use: None, status }
            }
        })
    }

    async fn read_inference_counters(
        &self,
        _request: Request<Empty>,
    ) -> Reply<ReadInferenceCountersResponse> {
        let nmgr_counters = Some(self.nmgr_counters());
        reply(ReadInferenceCountersResponse { nmgr_counters })
    }

    async fn read_all_counters(
        &self,
        _request: Request<ReadAllCountersRequest>,
    ) -> Reply<ReadAllCountersResponse> {
        reply(match self.all_counters() {
            Ok(counters) => counters,
            Err(failure) => ReadAllCountersResponse {
                status: self.told("read_all_counters", failure),
                ..ReadAllCountersResponse::default()
            },
        })
    }

    async fn read_all_metrics(
        &self,
        _request: Request<ReadAllMetricsRequest>,
    ) -> Reply<ReadAllMetricsResponse> {
        reply(match self.metrics() {
            Ok(nmgr_metrics) => ReadAllMetricsResponse { nmgr_metrics, status: ok() },
            Err(failure) => {
                let status = self.told("read_all_metrics", failure);
                ReadAllMetricsResponse { nmgr_metrics: Vec::new(), status }
            }
        })
    }

    async fn shm_map(&self, request: Request<ShmMapRequest>) -> Reply<ShmMapResponse> {
        let request = request.into_inner();
        let result = self.runtime().and_then(|runtime| {
            let refuse = |code, text: &str| Err(Failure::new(code, "NRTD:shm_map", text));
            match &request.data {
                _ if !self.0.config.shmem_enabled => {
                    refuse(Code::Invalid, "shared memory is switched off by shmem_enabled")
                }
                Some(shm_map_request::Data::Path(path)) => {
                    runtime.map(path, request.mmap_prot, request.session_id)
                }
                Some(shm_map_request::Data::PathHugetlb(_)) => {
                    refuse(Code::Invalid, "memory in huge pages is not supported")
                }
                None => refuse(Code::Invalid, "no path was given"),
            }
        });
        reply(ShmMapResponse { status: self.status("shm_map", result) })
    }

    async fn shm_unmap(&self, request: Request<ShmUnmapRequest>) -> Reply<ShmUnmapResponse> {
        let path = request.into_inner().path;
        let result = self.runtime().and_then(|runtime| runtime.unmap(&path));
        reply(ShmUnmapResponse { status: self.status("shm_unmap", result) })
    }

    async fn get_hw_counters(
        &self,
        request: Request<GetHwCountersRequest>,
    ) -> Reply<GetHwCountersResponse> {
        reply(match self.hw_counters_of(request.into_inner().device) {
            Ok(counters) => GetHwCountersResponse { counters: Some(counters), status: ok() },
            Err(failure) => {
                let status = self.told("get_hw_counters", failure);
                GetHwCountersResponse { counters: None, status }
            }
        })
    }

    async fn get_all_hw_counters(
        &self,
        _request: Request<Empty>,
    ) -> Reply<GetAllHwCountersResponse> {
        reply(match self.hw_counters() {
            Ok(counters) => GetAllHwCountersResponse { counters, status: ok() },
            Err(failure) => {
                let status = self.told("get_all_hw_counters", failure);
                GetAllHwCountersResponse { counters: Vec::new(), status }
            }
        })
    }

    async fn unload_all(&self, _request: Request<Empty>) -> Reply<Status> {
        let result = self
            .blocking(|runtime| {
                runtime.unload_all();
                Ok(())
            })
            .await;
        reply(self.status("unload_all", result).unwrap_or_default())
    }

    async fn random_seed(&self, request: Request<RandomSeedRequest>) -> Reply<RandomSeedResponse> {
        let request = request.into_inner();
        let group = request.h_eg.unwrap_or_default().id;
        let result = self.runtime().and_then(|runtime| runtime.seed_group(group, request.seed));
        reply(RandomSeedResponse { status: self.status("random_seed", result) })
    }

    async fn get_version(&self, _request: Request<GetVersionRequest>) -> Reply<GetVersionResponse> {
        reply(GetVersionResponse { runtime_version: Some(super::version(self.runtime().ok())) })
    }

    async fn set_static_transfer_adjustment(
        &self,
        _request: Request<SetStaticTransferAdjustmentRequest>,
    ) -> Reply<SetStaticTransferAdjustmentResponse> {
        let result = self.runtime().and_then(|_| {
            let text = "transfers of a simulated device are not adjusted";
            Err(Failure::new(Code::Invalid, "NRTD:set_static_transfer_adjustment", text))
        });
        let status = self.status("set_static_transfer_adjustment", result);
        reply(SetStaticTransferAdjustmentResponse { status })
    }
}
