/* What calls of the Neuron runtime return. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    NRT_SUCCESS = 0,
    NRT_FAILURE = 1,                  /* nothing more can be said; see the log */
    NRT_INVALID = 2,                  /* bad NEFF, wrong argument, tensor of another name or size */
    NRT_INVALID_HANDLE = 3,           /* no such model, tensor, set, ... (any more) */
    NRT_RESOURCE = 4,                 /* memory or another resource is missing */
    NRT_TIMEOUT = 5,
    NRT_HW_ERROR = 6,
    NRT_QUEUE_FULL = 7,               /* try again once something has ended */
    NRT_LOAD_NOT_ENOUGH_NC = 9,       /* too few free cores */
    NRT_UNSUPPORTED_NEFF_VERSION = 10,
    NRT_FAIL_HOST_MEM_ALLOC = 11,     /* never returned by this library */
    NRT_UNINITIALIZED = 13,           /* before nrt_init, or in a child of fork */
    NRT_CLOSED = 14,                  /* after nrt_close */
    NRT_QUEUE_EMPTY = 15,

    NRT_EXEC_UNIT_UNRECOVERABLE = 101, /* the model has failed for good */

    NRT_EXEC_BAD_INPUT = 1002,
    NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003, /* done, with NaN in an output */
    NRT_EXEC_COMPLETED_WITH_ERR = 1004,     /* the program stopped with an error */
    NRT_EXEC_NC_BUSY = 1005,
    NRT_EXEC_OOB = 1006,
    NRT_COLL_PENDING = 1100,

    NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
    NRT_EXEC_HW_ERR_HBM_UE = 1201,
    NRT_EXEC_HW_ERR_NC_UE = 1202,
    NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
    NRT_EXEC_SW_NQ_OVERFLOW = 1204,
    NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
    NRT_NETWORK_PROXY_FAILURE = 1206,
} NRT_STATUS;

/* The name of a status; the text is never freed. */
const char *nrt_get_status_as_str(NRT_STATUS status);

#ifdef __cplusplus
}
#endif
