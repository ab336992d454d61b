/* Everything wrong that a program can do without lying about its own memory.
 * Each must end with a status. Argument: a model that copies 64 bytes. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    HOLDS(argc == 2);
    char bytes[64] = {0};
    uint32_t number;
    size_t size;
    nrt_model_t *model = (nrt_model_t *)bytes;
    nrt_tensor_t *tensor = (nrt_tensor_t *)bytes;
    nrt_tensor_set_t *set = bytes;

    /* before init */
    WANT(NRT_UNINITIALIZED, nrt_load(bytes, 64, 0, -1, &model));
    WANT(NRT_UNINITIALIZED, nrt_execute(model, set, set));
    WANT(NRT_UNINITIALIZED, nrt_allocate_tensor_set(&set));
    WANT(NRT_UNINITIALIZED, nrt_unload(model));
    nrt_tensor_free(&tensor);
    nrt_tensor_free(NULL);
    nrt_destroy_tensor_set(&set);
    nrt_close();
    WANT(NRT_INVALID, nrt_get_version(NULL, 8));
    nrt_version_t version = {.rt_minor = 77};
    WANT(NRT_INVALID, nrt_get_version(&version, 0));
    OK(nrt_get_version(&version, 8));
    HOLDS(version.rt_major == 2 && version.rt_minor == 77);
    WANT(NRT_INVALID, nrt_get_total_vnc_count(NULL));
    WANT(NRT_INVALID, nrt_get_visible_vnc_count(NULL));
    WANT(NRT_INVALID, nrt_get_instance_info(NULL, 32));
    HOLDS(nrt_get_status_as_str((NRT_STATUS)-5) != NULL);

    /* init */
    WANT(NRT_INVALID, nrt_init(NRT_FRAMEWORK_TYPE_INVALID, "", ""));
    WANT(NRT_INVALID, nrt_init((nrt_framework_type_t)99, "", ""));
    WANT(NRT_INVALID, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, NULL, ""));
    WANT(NRT_INVALID, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", NULL));
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    WANT(NRT_INVALID, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    uint32_t cores;
    OK(nrt_get_visible_vnc_count(&cores));

    /* loading */
    size_t length;
    char *neff = read_file(argv[1], &length);
    WANT(NRT_INVALID, nrt_load(NULL, length, 0, -1, &model));
    WANT(NRT_INVALID, nrt_load(neff, 0, 0, -1, &model));
    WANT(NRT_INVALID, nrt_load(neff, SIZE_MAX, 0, -1, &model));
    WANT(NRT_INVALID, nrt_load(neff, length, 0, -1, NULL));
    WANT(NRT_INVALID, nrt_load(neff, length, (int)cores, -1, &model));
    WANT(NRT_INVALID, nrt_load(neff, length, -2, -1, &model));
    WANT(NRT_INVALID, nrt_load(neff, length, 0, -7, &model));
    WANT(NRT_INVALID, nrt_load(neff, length / 2, 0, -1, &model));
    WANT(NRT_INVALID, nrt_load(bytes, 64, 0, -1, &model));
    WANT(NRT_INVALID, nrt_load_collectives(neff, length, 0, -1, 1, 1, &model));
    WANT(NRT_FAILURE, nrt_load_collectives(neff, length, 0, -1, 0, 2, &model));
    OK(nrt_load_collectives(neff, length, 0, -1, 0, 1, &model));
    OK(nrt_unload(model));
    OK(nrt_load(neff, length, 0, -1, &model));
    free(neff); /* the bytes are not needed any more */
    WANT(NRT_INVALID, nrt_get_model_vnc_count(model, NULL));
    WANT(NRT_INVALID, nrt_get_model_vnc_count(NULL, &number));
    WANT(NRT_INVALID_HANDLE, nrt_get_model_vnc_count((nrt_model_t *)bytes, &number));
    WANT(NRT_INVALID_HANDLE, nrt_get_model_vnc_count((nrt_model_t *)~(uintptr_t)0, &number));
    nrt_model_info_t about[4];
    WANT(NRT_INVALID, nrt_get_model_info(model, NULL, 4, &size));
    WANT(NRT_INVALID, nrt_get_model_info(model, about, 0, &size));
    WANT(NRT_INVALID, nrt_get_model_info(model, about, 4, NULL));
    OK(nrt_get_model_info(model, about, sizeof about, &size));
    HOLDS(size == 4 && about[0].vnc == 0);

    nrt_tensor_info_array_t *info = NULL;
    WANT(NRT_INVALID, nrt_get_model_tensor_info(model, NULL));
    WANT(NRT_INVALID, nrt_get_model_tensor_info(NULL, &info));
    OK(nrt_get_model_tensor_info(model, &info));
    OK(nrt_free_model_tensor_info(info));
    WANT(NRT_INVALID_HANDLE, nrt_free_model_tensor_info(info));
    WANT(NRT_INVALID, nrt_free_model_tensor_info(NULL));

    /* tensors */
    WANT(NRT_INVALID, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "x", NULL));
    WANT(NRT_INVALID, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0, "x", &tensor));
    WANT(NRT_INVALID, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 64, "x", &tensor));
    WANT(NRT_INVALID,
         nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, (int)cores, 64, "x", &tensor));
    WANT(NRT_INVALID, nrt_tensor_allocate((nrt_tensor_placement_t)9, 0, 64, "x", &tensor));
    WANT(NRT_INVALID, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 5 << 20, "x", &tensor));
    WANT(NRT_RESOURCE,
         nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, (size_t)1 << 45, "x", &tensor));
    WANT(NRT_INVALID,
         nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, SIZE_MAX, "x", &tensor));
    OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, NULL, &tensor));
    HOLDS(nrt_tensor_get_size(tensor) == 64 && nrt_tensor_get_size(NULL) == 0);
    HOLDS(nrt_tensor_get_va(tensor) != NULL && nrt_tensor_get_va(NULL) == NULL);
    WANT(NRT_INVALID, nrt_tensor_write(tensor, NULL, 0, 64));
    WANT(NRT_INVALID, nrt_tensor_read(tensor, NULL, 0, 64));
    WANT(NRT_INVALID, nrt_tensor_write(NULL, bytes, 0, 64));
    WANT(NRT_INVALID, nrt_tensor_write(tensor, bytes, 0, 65));
    WANT(NRT_INVALID, nrt_tensor_write(tensor, bytes, 64, 1));
    WANT(NRT_INVALID, nrt_tensor_read(tensor, bytes, SIZE_MAX, 2));
    WANT(NRT_INVALID, nrt_tensor_read(tensor, bytes, 2, SIZE_MAX));
    WANT(NRT_INVALID, nrt_tensor_memset(tensor, 1, 0, 64));
    WANT(NRT_INVALID, nrt_tensor_copy(tensor, 0, tensor, 1, 64));
    WANT(NRT_INVALID, nrt_tensor_copy(tensor, 0, NULL, 0, 1));
    WANT(NRT_INVALID_HANDLE, nrt_tensor_read((nrt_tensor_t *)model, bytes, 0, 1));
    OK(nrt_tensor_write(tensor, bytes, 64, 0));
    OK(nrt_tensor_memset(tensor, 0, 0x1ff, 64));
    OK(nrt_tensor_copy(tensor, 0, tensor, 8, 56)); /* overlaps */
    OK(nrt_tensor_read(tensor, bytes, 0, 64));
    HOLDS((unsigned char)bytes[63] == 0xff);
    nrt_tensor_device_allocation_info_t place;
    WANT(NRT_FAILURE, nrt_tensor_get_device_allocation_info(tensor, &place));
    WANT(NRT_INVALID, nrt_tensor_get_device_allocation_info(tensor, NULL));
    WANT(NRT_INVALID, nrt_tensor_check_output_completion(NULL, 0, 1));
    WANT(NRT_TIMEOUT, nrt_tensor_check_output_completion(tensor, 1000, 1));
    OK(nrt_tensor_check_output_completion(tensor, 0, 0));
    WANT(NRT_INVALID, nrt_tensor_reset_output_completion(NULL));
    nrt_vnc_memory_stats_t memory;
    WANT(NRT_INVALID, nrt_get_vnc_memory_stats(cores, &memory, sizeof memory, &size));
    WANT(NRT_INVALID, nrt_get_vnc_memory_stats(0, NULL, sizeof memory, &size));
    WANT(NRT_INVALID, nrt_get_vnc_memory_stats(0, &memory, sizeof memory, NULL));

    /* batches */
    nrt_tensor_batch_op_t ops[2] = {{0, 8, bytes}, {60, 8, bytes}};
    nrt_tensor_batch_t batch = {tensor, ops, 2};
    WANT(NRT_INVALID, nrt_tensor_read_batch(NULL, 1, false));
    WANT(NRT_INVALID, nrt_tensor_read_batch(&batch, 1, false));
    WANT(NRT_INVALID, nrt_tensor_read_batch(&batch, UINT64_MAX, true));
    ops[1].size = 4;
    OK(nrt_tensor_write_batch(&batch, 1, false));
    ops[1].buffer = NULL;
    WANT(NRT_INVALID, nrt_tensor_write_batch(&batch, 1, false));
    batch.ops = NULL;
    WANT(NRT_INVALID, nrt_tensor_write_batch(&batch, 1, false));

    /* slices and buffers */
    nrt_tensor_t *slice, *empty, *copy = tensor;
    WANT(NRT_INVALID, nrt_tensor_allocate_slice(tensor, 0, 65, NULL, &slice));
    WANT(NRT_INVALID, nrt_tensor_allocate_slice(tensor, SIZE_MAX, 2, NULL, &slice));
    WANT(NRT_INVALID, nrt_tensor_allocate_slice(tensor, 0, 0, NULL, &slice));
    WANT(NRT_INVALID, nrt_tensor_allocate_slice(NULL, 0, 1, NULL, &slice));
    OK(nrt_tensor_allocate_slice(tensor, 32, 32, "half", &slice));
    OK(nrt_tensor_allocate_empty(NULL, &empty));
    WANT(NRT_INVALID, nrt_tensor_read(empty, bytes, 0, 1));
    HOLDS(nrt_tensor_get_size(empty) == 0 && nrt_tensor_get_va(empty) == NULL);
    WANT(NRT_INVALID, nrt_tensor_allocate_slice(empty, 0, 1, NULL, &copy));
    WANT(NRT_INVALID, nrt_tensor_attach_buffer(empty, NULL, 64));
    WANT(NRT_INVALID, nrt_tensor_attach_buffer(empty, bytes, 0));
    OK(nrt_tensor_attach_buffer(empty, bytes, 64));
    HOLDS(nrt_tensor_get_va(empty) == bytes);
    WANT(NRT_INVALID, nrt_tensor_get_device_allocation_info(empty, &place));
    copy = tensor;
    nrt_tensor_free(&tensor);
    HOLDS(tensor == NULL);
    nrt_tensor_free(&tensor);
    nrt_tensor_free(&copy); /* freed by its other name */
    OK(nrt_tensor_write(slice, bytes, 0, 32)); /* its memory lives on */

    /* sets */
    nrt_tensor_set_t *in, *out;
    WANT(NRT_INVALID, nrt_allocate_tensor_set(NULL));
    OK(nrt_allocate_tensor_set(&in));
    OK(nrt_allocate_tensor_set(&out));
    char name[5000];
    memset(name, 'n', sizeof name);
    name[4999] = 0;
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(in, name, slice));
    name[256] = 0;
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(in, name, slice));
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(in, "", slice));
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(in, NULL, slice));
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(in, "x", NULL));
    WANT(NRT_INVALID, nrt_add_tensor_to_tensor_set(NULL, "x", slice));
    WANT(NRT_INVALID_HANDLE, nrt_add_tensor_to_tensor_set(slice, "x", slice));
    WANT(NRT_INVALID_HANDLE, nrt_add_tensor_to_tensor_set(in, "x", (nrt_tensor_t *)in));
    WANT(NRT_FAILURE, nrt_get_tensor_from_tensor_set(in, "x", &tensor));
    WANT(NRT_INVALID, nrt_get_tensor_from_tensor_set(in, "x", NULL));

    /* executions */
    WANT(NRT_INVALID, nrt_execute(model, in, out)); /* no tensors */
    OK(nrt_add_tensor_to_tensor_set(in, "x", slice));
    WANT(NRT_INVALID, nrt_execute(model, in, out)); /* of another size */
    OK(nrt_add_tensor_to_tensor_set(in, "x", empty));
    OK(nrt_get_tensor_from_tensor_set(in, "x", &tensor));
    HOLDS(tensor == empty);
    WANT(NRT_INVALID, nrt_execute(model, in, out)); /* no output */
    OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 64, "y", &tensor));
    OK(nrt_add_tensor_to_tensor_set(out, "y", tensor));
    WANT(NRT_INVALID, nrt_execute(NULL, in, out));
    WANT(NRT_INVALID, nrt_execute(model, NULL, out));
    WANT(NRT_INVALID, nrt_execute(model, in, NULL));
    WANT(NRT_INVALID_HANDLE, nrt_execute((nrt_model_t *)in, in, out));
    OK(nrt_execute(model, in, out));
    OK(nrt_tensor_check_output_completion(tensor, 0, 1));
    WANT(NRT_INVALID, nrt_execute_repeat(model, in, out, 0));
    WANT(NRT_INVALID, nrt_execute_repeat(model, in, out, -1));
    WANT(NRT_INVALID, nrt_execute_repeat(model, in, out, 2)); /* nothing is fed */
    OK(nrt_execute_repeat(model, in, out, 1));
    nrt_tensor_t *freed = tensor;
    nrt_tensor_free(&freed);
    WANT(NRT_INVALID_HANDLE, nrt_execute(model, in, out));

    /* asynchronous calls */
    nrta_seq_t seq;
    nrta_error_tracker_t *tracker;
    int fd;
    bool done;
    WANT(NRT_INVALID, nrta_error_tracker_create(cores, &tracker));
    WANT(NRT_INVALID, nrta_error_tracker_create(0, NULL));
    OK(nrta_error_tracker_create(0, &tracker));
    WANT(NRT_INVALID_HANDLE, nrta_execute_schedule(model, in, out, 0, tracker, &seq));
    WANT(NRT_INVALID, nrta_tensor_write(slice, bytes, 0, 8, 1, tracker, &seq));
    WANT(NRT_INVALID, nrta_tensor_write(slice, bytes, 0, 33, 0, tracker, &seq));
    WANT(NRT_INVALID, nrta_tensor_write(slice, NULL, 0, 8, 0, tracker, &seq));
    WANT(NRT_INVALID, nrta_tensor_write(slice, bytes, 0, 8, 0, tracker, NULL));
    WANT(NRT_INVALID_HANDLE,
         nrta_tensor_write(slice, bytes, 0, 8, 0, (nrta_error_tracker_t *)bytes, &seq));
    WANT(NRT_INVALID, nrta_is_completed(0, &done));
    WANT(NRT_INVALID, nrta_is_completed(~0ull, &done));
    WANT(NRT_INVALID, nrta_get_completion_handle(12345, &fd));
    WANT(NRT_INVALID, nrta_get_sequence(0, (nrta_xu_t)77, 0, &seq));
    WANT(NRT_INVALID, nrta_get_sequence(cores, NRTA_XU_COMPUTE, 0, &seq));
    WANT(NRT_INVALID, nrt_async_drain_queued_execs(-1));
    WANT(NRT_INVALID, nrta_error_tracker_get_list(tracker, NULL, &size));

    /* options and captures */
    nrt_inspect_config_t *config;
    WANT(NRT_INVALID, nrt_inspect_config_allocate(NULL));
    OK(nrt_inspect_config_allocate(&config));
    WANT(NRT_INVALID, nrt_inspect_config_set_output_dir(config, ""));
    WANT(NRT_INVALID, nrt_inspect_config_set_activity(config, "everything", true));
    OK(nrt_inspect_config_set_activity(config, "all", false));
    OK(nrt_inspect_config_set_activity(config, "cpu_util", true));
    const char **words;
    OK(nrt_inspect_config_get_enabled_activity_types(config, &words, &size));
    HOLDS(size == 1 && strcmp(words[0], "cpu_util") == 0);
    free((void *)words[0]);
    free(words);
    OK(nrt_inspect_config_get_all_activity_types(&words, &size));
    HOLDS(size == 5);
    nrt_inspect_config_free_activity_types(words, size);
    nrt_inspect_config_free_activity_types(NULL, 3);
    OK(nrt_inspect_begin_with_options(config));
    OK(nrt_inspect_config_set_enable_inspect(config, true));
    WANT(NRT_INVALID,
         nrt_inspect_config_set_capture_enabled_for_event_type_string(config, "nothing", true));
    OK(nrt_inspect_config_set_output_dir(config, "/proc/nonexistent"));
    WANT(NRT_FAILURE, nrt_inspect_begin_with_options(config));
    OK(nrt_inspect_config_free(config));
    WANT(NRT_INVALID_HANDLE, nrt_inspect_config_free(config));
    WANT(NRT_INVALID, nrt_profile_start(model, NULL));
    WANT(NRT_INVALID, nrt_profile_start(NULL, "file"));
    WANT(NRT_INVALID, nrt_profile_stop("never-started"));
    WANT(NRT_INVALID, nrt_sys_trace_start(NULL));
    WANT(NRT_INVALID, nrt_sys_trace_stop());
    char *events;
    WANT(NRT_INVALID, nrt_sys_trace_fetch_events(&events, &size, NULL));
    WANT(NRT_INVALID, nrt_sys_trace_fetch_events(NULL, &size, NULL));
    WANT(NRT_FAILURE, nrt_profile_continuous_start(NULL));
    nrt_sys_trace_buffer_free(bytes);

    /* a child has no runtime */
    pid_t child = fork();
    if (child == 0) {
        WANT(NRT_UNINITIALIZED, nrt_execute(model, in, out));
        _exit(0);
    }
    int how = -1;
    HOLDS(waitpid(child, &how, 0) == child && how == 0);

    /* twice, and afterwards */
    nrt_model_t *gone = model;
    OK(nrt_unload(model));
    WANT(NRT_INVALID_HANDLE, nrt_unload(gone));
    WANT(NRT_INVALID_HANDLE, nrt_execute(gone, in, out));
    WANT(NRT_INVALID, nrt_unload(NULL));
    nrt_tensor_set_t *same = in;
    nrt_destroy_tensor_set(&in);
    HOLDS(in == NULL);
    nrt_destroy_tensor_set(&same);
    nrta_error_tracker_destroy(tracker);
    nrta_error_tracker_destroy(tracker);
    nrt_close();
    nrt_close();
    WANT(NRT_CLOSED, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    WANT(NRT_CLOSED, nrt_tensor_read(slice, bytes, 0, 1));
    WANT(NRT_CLOSED, nrt_execute(model, out, out));
    WANT(NRT_CLOSED, nrt_allocate_tensor_set(&in));
    WANT(NRT_CLOSED, nrta_is_completed(1, &done));
    nrt_destroy_tensor_set(&out);
    nrt_tensor_free(&slice);
    nrt_tensor_free(&empty);
    puts("done");
    return 0;
}
