/* Runs models on core 0, each so many times: COUNT NEFF... With COUNT 0 it runs
 * the first for ever. */
#include <stdio.h>
#include <stdlib.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

#define OK(call)                                          \
    do {                                                  \
        if ((call) != NRT_SUCCESS) {                      \
            fprintf(stderr, "%s failed\n", #call);        \
            exit(1);                                      \
        }                                                 \
    } while (0)

static nrt_tensor_set_t *tensors(nrt_model_t *model, nrt_tensor_usage_t usage) {
    nrt_tensor_info_array_t *info;
    nrt_tensor_set_t *set;
    OK(nrt_get_model_tensor_info(model, &info));
    OK(nrt_allocate_tensor_set(&set));
    for (uint64_t i = 0; i < info->tensor_count; i++) {
        const nrt_tensor_info_t *one = &info->tensor_array[i];
        if (one->usage != usage) continue;
        nrt_tensor_t *tensor;
        OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size, one->name, &tensor));
        OK(nrt_add_tensor_to_tensor_set(set, one->name, tensor));
        if (usage == NRT_TENSOR_USAGE_INPUT) {
            void *zeros = calloc(1, one->size);
            OK(nrt_tensor_write(tensor, zeros, 0, one->size));
            free(zeros);
        }
    }
    OK(nrt_free_model_tensor_info(info));
    return set;
}

int main(int argc, char **argv) {
    long count = argc > 2 ? atol(argv[1]) : 1;
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    for (int at = 2; at < argc; at++) {
        FILE *file = fopen(argv[at], "rb");
        if (file == NULL) return 2;
        fseek(file, 0, SEEK_END);
        size_t size = (size_t)ftell(file);
        rewind(file);
        void *neff = malloc(size);
        if (fread(neff, 1, size, file) != size) return 2;
        fclose(file);
        nrt_model_t *model;
        OK(nrt_load(neff, size, 0, 1, &model));
        free(neff);
        nrt_tensor_set_t *inputs = tensors(model, NRT_TENSOR_USAGE_INPUT);
        nrt_tensor_set_t *outputs = tensors(model, NRT_TENSOR_USAGE_OUTPUT);
        for (long run = 0; count == 0 || run < count; run++) OK(nrt_execute(model, inputs, outputs));
        OK(nrt_unload(model));
    }
    nrt_close();
    return 0;
}
