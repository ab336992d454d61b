/* Requests that are not waited for. Argument: a model that copies 64 bytes. */
#include <poll.h>
#include <unistd.h>

#include "check.h"

static int calls;

static void ended(void *params, uint32_t model, uint32_t vnc, uint64_t job, NRT_STATUS status) {
    (void)model;
    HOLDS(vnc == 0 && job != 0 && status == NRT_SUCCESS);
    ++*(int *)params;
}

int main(int argc, char **argv) {
    HOLDS(argc == 2);
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    nrt_model_t *model = load(argv[1], 0);
    bundle_t in = bundle(model, NRT_TENSOR_USAGE_INPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    bundle_t out = bundle(model, NRT_TENSOR_USAGE_OUTPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    nrta_error_tracker_t *tracker;
    OK(nrta_error_tracker_create(0, &tracker));
    unsigned char want[64], got[64] = {0};
    for (int i = 0; i < 64; i++) want[i] = (unsigned char)(i * 3);

    nrta_seq_t first, seq;
    bool done;
    OK(nrta_tensor_write(in.tensors[0], want, 0, 64, 0, tracker, &first));
    HOLDS(NRTA_SEQ_GET_SEQ_NUM(first) == 1 && NRTA_SEQ_GET_XU_ID(first) == NRTA_XU_TENSOR_WRITE);
    do OK(nrta_is_completed(first, &done));
    while (!done);

    for (int i = 0; i < 10; i++)
        OK(nrta_execute_schedule(model, in.set, out.set, 0, tracker, &seq));
    HOLDS(NRTA_SEQ_GET_SEQ_NUM(seq) == 10);
    int fd;
    OK(nrta_get_completion_handle(seq, &fd));
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    HOLDS(poll(&waits, 1, 20000) == 1);
    close(fd);
    nrta_seq_t last;
    OK(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &last));
    HOLDS(last == seq);
    OK(nrt_tensor_check_output_completion(out.tensors[0], 20000000, 10));

    OK(nrta_tensor_read(got, out.tensors[0], 0, 64, 0, tracker, &seq));
    OK(nrta_get_completion_handle(seq, &fd));
    waits.fd = fd;
    HOLDS(poll(&waits, 1, 20000) == 1);
    close(fd);
    HOLDS(memcmp(want, got, 64) == 0);

    OK(nrta_tensor_copy(out.tensors[0], 0, in.tensors[0], 32, 32, 0, NULL, &seq));
    do OK(nrta_is_completed(seq, &done));
    while (!done);
    OK(nrt_tensor_read(in.tensors[0], got, 0, 64));
    HOLDS(memcmp(want, got + 32, 32) == 0);

    const nrta_error_t *list;
    size_t count;
    OK(nrta_error_tracker_get_list(tracker, &list, &count));
    HOLDS(count == 0);

    /* the older way: nrt_execute returns at once */
    OK(nrt_register_async_exec_callback(ended, &calls));
    for (int i = 0; i < 20; i++) OK(nrt_execute(model, in.set, out.set));
    OK(nrt_async_drain_queued_execs(0));
    HOLDS(calls == 20);

    /* requests of a model that goes away end with an error */
    OK(nrt_register_async_exec_callback(NULL, NULL));
    NRT_STATUS full;
    int queued = 0;
    while ((full = nrta_execute_schedule(model, in.set, out.set, 0, tracker, &seq)) == NRT_SUCCESS
           && queued < 100000)
        queued++;
    HOLDS(full == NRT_QUEUE_FULL || queued == 100000);
    OK(nrt_unload(model));
    OK(nrt_async_drain_queued_execs(0));
    OK(nrta_error_tracker_get_list(tracker, &list, &count));
    for (size_t i = 0; i < count; i++)
        HOLDS(list[i].error_code != NRT_SUCCESS && list[i].seq_id <= seq);
    drop(&in);
    drop(&out);
    nrt_close();
    nrta_error_tracker_destroy(tracker);
    puts("done");
    return 0;
}
