/* What the programs of the tests share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/nrt_version.h"

/* Ends the program unless a call has this status. */
#define WANT(status, call)                                                                 \
    do {                                                                                   \
        NRT_STATUS got_ = (call);                                                          \
        if (got_ != (status)) {                                                            \
            fprintf(stderr, "%s:%d: %s gave %s, not %s\n", __FILE__, __LINE__, #call,      \
                    nrt_get_status_as_str(got_), nrt_get_status_as_str(status));           \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)
#define OK(call) WANT(NRT_SUCCESS, call)

/* Ends the program unless something holds. */
#define HOLDS(what)                                                          \
    do {                                                                     \
        if (!(what)) {                                                       \
            fprintf(stderr, "%s:%d: %s is wrong\n", __FILE__, __LINE__, #what); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* A whole file. */
static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    HOLDS(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    HOLDS(bytes != NULL && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

__attribute__((unused)) static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    HOLDS(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* Loads a file. */
static nrt_model_t *load(const char *path, int vnc) {
    size_t size;
    void *neff = read_file(path, &size);
    nrt_model_t *model = NULL;
    OK(nrt_load(neff, size, vnc, -1, &model));
    free(neff);
    return model;
}

/* Tensors of a model: a set with one for each of its inputs or outputs. */
typedef struct {
    nrt_tensor_set_t *set;
    nrt_tensor_t *tensors[16];
    char names[16][NRT_TENSOR_NAME_MAX];
    size_t sizes[16];
    size_t count;
} bundle_t;

static bundle_t bundle(nrt_model_t *model, nrt_tensor_usage_t usage, nrt_tensor_placement_t where) {
    bundle_t made = {0};
    nrt_tensor_info_array_t *info = NULL;
    OK(nrt_get_model_tensor_info(model, &info));
    OK(nrt_allocate_tensor_set(&made.set));
    for (uint64_t i = 0; i < info->tensor_count; i++) {
        const nrt_tensor_info_t *one = &info->tensor_array[i];
        if (one->usage != usage) continue;
        HOLDS(made.count < 16 && one->dtype == NRT_DTYPE_FLOAT32 && one->ndim > 0);
        size_t bytes = 4;
        for (uint32_t d = 0; d < one->ndim; d++) bytes *= one->shape[d];
        HOLDS(bytes == one->size);
        size_t at = made.count++;
        strcpy(made.names[at], one->name);
        made.sizes[at] = one->size;
        OK(nrt_tensor_allocate(where, 0, one->size, one->name, &made.tensors[at]));
        OK(nrt_add_tensor_to_tensor_set(made.set, one->name, made.tensors[at]));
    }
    OK(nrt_free_model_tensor_info(info));
    return made;
}

static void drop(bundle_t *made) {
    nrt_destroy_tensor_set(&made->set);
    HOLDS(made->set == NULL);
    for (size_t i = 0; i < made->count; i++) {
        nrt_tensor_free(&made->tensors[i]);
        HOLDS(made->tensors[i] == NULL);
    }
}
