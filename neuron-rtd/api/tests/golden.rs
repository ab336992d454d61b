//! The byte vectors of neuron-rtd.md section 1.10, which were computed from the
//! published numbers, and the method table of section 1.2.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Debug;

use prost::Message;
use protox::prost_reflect::DescriptorPool;
use rtd_api::infer_io::Data;
use rtd_api::load_request::Content;
use rtd_api::*;

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// The message has these bytes, and the bytes are this message.
#[track_caller]
fn golden<M: Message + Default + PartialEq + Debug>(hex: &str, message: M) {
    let wanted = bytes(hex);
    assert_eq!(message.encode_to_vec(), wanted, "{message:?}");
    assert_eq!(M::decode(wanted.as_slice()).unwrap(), message);
}

fn word(data: u32) -> Option<U32> {
    Some(U32 { data })
}

fn load(content: Content) -> LoadRequest {
    LoadRequest { content: Some(content) }
}

fn ok() -> Option<Status> {
    Some(Status::default())
}

fn nn(id: u32) -> Option<HNn> {
    Some(HNn { id })
}

fn inline(name: &str, data: &'static [u8]) -> InferIo {
    InferIo { name: name.into(), data: Some(Data::Buf(data.into())) }
}

fn shared(name: &str, path: &str) -> InferIo {
    InferIo { name: name.into(), data: Some(Data::BufShm(SharedMemBuf { path: path.into() })) }
}

#[test]
fn groups() {
    golden("08 02 10 05", CreateEgRequest { nc_count: 2, session_id: 5 });
    let h_eg = Some(HEg { id: 1 });
    golden("0a 00 12 02 08 01 18 02", CreateEgResponse { status: ok(), h_eg, nc_count: 2 });
}

#[test]
fn loading() {
    golden("0a 02 08 01", load(Content::HEg(HEg { id: 1 })));
    golden("30 05", load(Content::SessionId(5)));
    golden("18 81 80 40", load(Content::NeffSize(1_048_577)));
    let mut params = ModelParams { timeout: word(10), ninfer: word(2), ..ModelParams::default() };
    golden("12 08 0a 02 08 0a 12 02 08 02", load(Content::ModelParams(params)));
    params.enable_tracing = word(1);
    params.enable_node_profiling = word(1);
    golden(
        "12 10 0a 02 08 0a 12 02 08 02 1a 02 08 01 32 02 08 01",
        load(Content::ModelParams(params)),
    );
    let chunk = FileChunk { chunk: b"abc"[..].into() };
    golden("22 05 0a 03 61 62 63", load(Content::NeffChunk(chunk)));
    golden("0a 00 12 03 08 91 4e", LoadResponse { status: ok(), h_nn: nn(10001) });
    golden("0a 03 08 91 4e", StartRequest { h_nn: nn(10001) });
    golden("0a 00", StartRequest { h_nn: nn(0) });
}

#[test]
fn inference() {
    golden(
        "0a 03 08 91 4e 12 09 0a 02 00 01 1a 03 78 3a 30",
        InferRequest {
            h_nn: nn(10001),
            ifmap: vec![inline("x:0", &[0, 1])],
            ..InferRequest::default()
        },
    );
    golden(
        "0a 03 08 91 4e 12 0b 12 04 0a 02 2f 61 1a 03 78 3a 30 \
         1a 0b 12 04 0a 02 2f 62 1a 03 79 3a 30",
        InferRequest {
            h_nn: nn(10001),
            ifmap: vec![shared("x:0", "/a")],
            shm_ofmap: vec![shared("y:0", "/b")],
            loop_end_value: 0,
        },
    );
    golden("0a 00 10 01", InferPostResponse { status: ok(), cookie: 1 });
    golden(
        "08 01 12 0b 12 04 0a 02 2f 62 1a 03 79 3a 30",
        InferWaitRequest { cookie: 1, shm_ofmap: vec![shared("y:0", "/b")] },
    );
    golden(
        "0a 00 1a 08 0a 01 02 1a 03 79 3a 30",
        InferResponse { status: ok(), ofmap: vec![inline("y:0", &[2])] },
    );
    let code = Nerr::InferCompletedWithNumErr as i32;
    golden(
        "0a 06 08 eb 07 12 01 65",
        InferResponse { status: Some(Status { code, details: b"e"[..].into() }), ofmap: vec![] },
    );
}

#[test]
fn memory_and_sessions() {
    golden(
        "0a 02 2f 61 10 03 20 05",
        ShmMapRequest {
            mmap_prot: 3,
            session_id: 5,
            data: Some(shm_map_request::Data::Path("/a".into())),
        },
    );
    golden(
        "08 05 12 0e 0a 08 31 2e 36 2e 32 34 2e 30 10 01 18 06",
        SessionMonitorResponse {
            session_id: 5,
            runtime_version: Some(Version {
                full_version: "1.6.24.0".into(),
                major_num: 1,
                minor_num: 6,
            }),
        },
    );
}

/// Section 1.2: each method with its request and its response; `~` streams.
const METHODS: &str = "
nmgr_v1 load ~load_request load_response
nmgr_v1 unload unload_request unload_response
nmgr_v1 start start_request start_response
nmgr_v1 stop stop_request stop_response
nmgr_v1 infer infer_request infer_response
nmgr_v1 infer_post infer_request infer_post_response
nmgr_v1 infer_wait infer_wait_request infer_response
nmgr_v1 infer_poll infer_wait_request infer_response
nmgr_v1 infer_check_completion infer_check_completion_request infer_check_completion_response
nmgr_v1 create_eg create_eg_request create_eg_response
nmgr_v1 destroy_eg destroy_eg_request destroy_eg_response
nmgr_v1 list_egs empty out_list_egs
nmgr_v1 read_nc_counters read_nc_counters_request read_nc_counters_response
nmgr_v1 read_nc_time_in_use read_nc_time_in_use_request read_nc_time_in_use_response
nmgr_v1 read_inference_counters empty read_inference_counters_response
nmgr_v1 read_all_counters read_all_counters_request read_all_counters_response
nmgr_v1 read_all_metrics read_all_metrics_request read_all_metrics_response
nmgr_v1 shm_map shm_map_request shm_map_response
nmgr_v1 shm_unmap shm_unmap_request shm_unmap_response
nmgr_v1 get_hw_counters get_hw_counters_request get_hw_counters_response
nmgr_v1 get_all_hw_counters empty get_all_hw_counters_response
nmgr_v1 unload_all empty status
nmgr_v1 random_seed random_seed_request random_seed_response
nmgr_v1 get_version get_version_request get_version_response
nmgr_v1 set_static_transfer_adjustment set_static_transfer_adjustment_request set_static_transfer_adjustment_response
nmgr_session_manager session_monitor ~session_monitor_request ~session_monitor_response
nmgr_stream infer_stream ~infer_request ~infer_response
";

#[test]
fn the_public_methods_are_those_of_the_table() {
    let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
    let mut found = String::from("\n");
    for service in pool.services().filter(|service| service.name() != "nmgr_ext_v1") {
        assert_eq!(service.package_name(), "nrt");
        for method in service.methods() {
            let stream = |streams| if streams { "~" } else { "" };
            found += &format!(
                "{} {} {}{} {}{}\n",
                service.name(),
                method.name(),
                stream(method.is_client_streaming()),
                method.input().name(),
                stream(method.is_server_streaming()),
                method.output().name()
            );
        }
    }
    assert_eq!(found, METHODS);
}

/// The generated server answers to the published names.
#[test]
fn services_keep_their_lower_case_names() {
    assert_eq!(nmgr_v1_server::SERVICE_NAME, "nrt.nmgr_v1");
    assert_eq!(nmgr_session_manager_server::SERVICE_NAME, "nrt.nmgr_session_manager");
    assert_eq!(nmgr_stream_server::SERVICE_NAME, "nrt.nmgr_stream");
}
