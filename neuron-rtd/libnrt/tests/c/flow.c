/* The order of calls of the published example: model file, folder with an
 * input file for each input; outputs go there. */
#include "check.h"

int main(int argc, char **argv) {
    HOLDS(argc == 3);
    nrt_version_t version;
    OK(nrt_get_version(&version, sizeof version));
    HOLDS(version.rt_major == NRT_MAJOR_VERSION && version.rt_minor == NRT_MINOR_VERSION);
    HOLDS(strstr(version.rt_detail, "simulated") != NULL);
    uint32_t total, visible;
    OK(nrt_get_total_vnc_count(&total));

    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    OK(nrt_get_visible_vnc_count(&visible));
    HOLDS(visible > 0 && visible <= total);
    nrt_instance_info_t instance;
    OK(nrt_get_instance_info(&instance, sizeof instance));
    printf("%u of %u cores, family %u, %s\n", visible, total, instance.family, instance.arch_name);

    nrt_model_t *model = load(argv[1], 0);
    uint32_t cores, instances;
    OK(nrt_get_model_vnc_count(model, &cores));
    OK(nrt_get_model_instance_count(model, &instances));
    HOLDS(cores == 1 && instances >= 1);
    bundle_t inputs = bundle(model, NRT_TENSOR_USAGE_INPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    bundle_t outputs = bundle(model, NRT_TENSOR_USAGE_OUTPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    nrt_vnc_memory_stats_t memory;
    size_t written;
    OK(nrt_get_vnc_memory_stats(0, &memory, sizeof memory, &written));
    HOLDS(written == sizeof memory && memory.bytes_used > 0);
    HOLDS(memory.bytes_used < memory.bytes_limit);

    char path[4096];
    for (size_t i = 0; i < inputs.count; i++) {
        size_t size;
        snprintf(path, sizeof path, "%s/%s.in", argv[2], inputs.names[i]);
        void *bytes = read_file(path, &size);
        HOLDS(size == inputs.sizes[i]);
        OK(nrt_tensor_write(inputs.tensors[i], bytes, 0, size));
        free(bytes);
    }
    OK(nrt_execute(model, inputs.set, outputs.set));
    for (size_t i = 0; i < outputs.count; i++) {
        void *bytes = malloc(outputs.sizes[i]);
        OK(nrt_tensor_read(outputs.tensors[i], bytes, 0, outputs.sizes[i]));
        snprintf(path, sizeof path, "%s/%s.out", argv[2], outputs.names[i]);
        write_file(path, bytes, outputs.sizes[i]);
        free(bytes);
    }
    /* the example unloads before it frees */
    OK(nrt_unload(model));
    drop(&inputs);
    drop(&outputs);
    nrt_close();
    puts("done");
    return 0;
}
