/* Two threads on one model, two on another one of the same core, and one that
 * loads and unloads meanwhile. Argument: a model that copies 64 bytes. */
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 200 };

static const char *path;
static nrt_model_t *models[2];

static void *work(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    nrt_model_t *model = models[seed % 2];
    bundle_t in = bundle(model, NRT_TENSOR_USAGE_INPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    bundle_t out = bundle(model, NRT_TENSOR_USAGE_OUTPUT, NRT_TENSOR_PLACEMENT_VIRTUAL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char want[64], got[64];
        for (int i = 0; i < 64; i++) want[i] = (unsigned char)(seed * 31 + round * 7 + i);
        OK(nrt_tensor_write(in.tensors[0], want, 0, 64));
        OK(nrt_execute(model, in.set, out.set));
        OK(nrt_tensor_read(out.tensors[0], got, 0, 64));
        HOLDS(memcmp(want, got, 64) == 0);
    }
    OK(nrt_tensor_check_output_completion(out.tensors[0], 0, ROUNDS));
    drop(&in);
    drop(&out);
    return NULL;
}

static void *come_and_go(void *argument) {
    (void)argument;
    for (int round = 0; round < 20; round++) OK(nrt_unload(load(path, round % 2 ? 0 : -1)));
    return NULL;
}

int main(int argc, char **argv) {
    HOLDS(argc == 2);
    path = argv[1];
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    models[0] = load(path, 0);
    models[1] = load(path, 0);
    pthread_t threads[5];
    for (size_t i = 0; i < 4; i++) HOLDS(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    HOLDS(pthread_create(&threads[4], NULL, come_and_go, NULL) == 0);
    for (size_t i = 0; i < 5; i++) HOLDS(pthread_join(threads[i], NULL) == 0);
    OK(nrt_unload(models[0]));
    nrt_close();
    puts("done");
    return 0;
}
