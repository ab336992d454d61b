/* Events of a run, fetched as text. Arguments: a model that copies 64 bytes, the
 * file for the text. */
#include "check.h"

int main(int argc, char **argv) {
    HOLDS(argc == 3);
    const char **types;
    size_t count, size;
    char *text;
    OK(nrt_sys_trace_get_event_types(&types, &count));
    HOLDS(count > 10);
    nrt_sys_trace_free_event_types(types, count);
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));

    nrt_sys_trace_config_t *config;
    OK(nrt_sys_trace_config_allocate(&config));
    nrt_sys_trace_config_set_defaults(config);
    nrt_sys_trace_config_set_max_events_per_nc(config, 5000);
    nrt_sys_trace_config_set_capture_enabled_for_nc(config, 1, false);
    OK(nrt_sys_trace_config_set_capture_enabled_for_event_type(config, "nrt_tensor_read", false));
    WANT(NRT_INVALID,
         nrt_sys_trace_config_set_capture_enabled_for_event_type(config, "nothing", true));
    size_t enabled;
    OK(nrt_sys_trace_config_get_enabled_event_types(config, &types, &enabled));
    HOLDS(enabled == count - 1);
    nrt_sys_trace_free_event_types(types, enabled);

    WANT(NRT_INVALID, nrt_sys_trace_fetch_events(&text, &size, NULL));
    OK(nrt_sys_trace_start(config));
    WANT(NRT_INVALID, nrt_sys_trace_start(config));
    nrt_sys_trace_config_free(config);
    nrt_model_t *models[2];
    bundle_t in[2], out[2];
    for (int core = 0; core < 2; core++) {
        models[core] = load(argv[1], core);
        in[core] = bundle(models[core], NRT_TENSOR_USAGE_INPUT, NRT_TENSOR_PLACEMENT_DEVICE);
        out[core] = bundle(models[core], NRT_TENSOR_USAGE_OUTPUT, NRT_TENSOR_PLACEMENT_DEVICE);
        char bytes[64] = {0};
        OK(nrt_tensor_write(in[core].tensors[0], bytes, 0, 64));
        OK(nrt_execute(models[core], in[core].set, out[core].set));
        OK(nrt_tensor_read(out[core].tensors[0], bytes, 0, 64));
    }
    nrt_sys_trace_fetch_options_t *options;
    OK(nrt_sys_trace_fetch_options_allocate(&options));
    nrt_sys_trace_fetch_options_set_nc_idx(options, 0);
    nrt_sys_trace_fetch_options_set_max_events_per_nc(options, 1000);
    OK(nrt_sys_trace_fetch_events(&text, &size, options));
    HOLDS(strlen(text) == size);
    write_file(argv[2], text, size);
    nrt_sys_trace_buffer_free(text);
    nrt_sys_trace_fetch_options_free(options);
    /* each is given once, and core 1 was left out */
    OK(nrt_sys_trace_fetch_events(&text, &size, NULL));
    HOLDS(strstr(text, "\"events\":[]") != NULL);
    nrt_sys_trace_buffer_free(text);
    nrt_sys_trace_buffer_free(text);
    OK(nrt_sys_trace_stop());
    WANT(NRT_INVALID, nrt_sys_trace_stop());
    for (int core = 0; core < 2; core++) {
        OK(nrt_unload(models[core]));
        drop(&in[core]);
        drop(&out[core]);
    }
    nrt_close();
    puts("done");
    return 0;
}
