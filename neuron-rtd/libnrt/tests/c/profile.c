/* A profile of one execution. Arguments: a model that copies 64 bytes, the file
 * for the profile. */
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    HOLDS(argc == 3);
    OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    nrt_model_t *model = load(argv[1], 0);
    bundle_t in = bundle(model, NRT_TENSOR_USAGE_INPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    bundle_t out = bundle(model, NRT_TENSOR_USAGE_OUTPUT, NRT_TENSOR_PLACEMENT_DEVICE);
    OK(nrt_execute(model, in.set, out.set));
    HOLDS(access(argv[2], F_OK) != 0);

    WANT(NRT_INVALID, nrt_profile_start(model, ""));
    OK(nrt_profile_start(model, argv[2]));
    WANT(NRT_INVALID, nrt_profile_start(model, argv[2]));
    WANT(NRT_INVALID, nrt_profile_stop("another"));
    OK(nrt_execute(model, in.set, out.set));
    OK(nrt_profile_stop(argv[2]));
    HOLDS(access(argv[2], R_OK) == 0);
    WANT(NRT_INVALID, nrt_profile_stop(argv[2]));

    /* nothing to write */
    OK(nrt_profile_start(model, "nothing.ntff"));
    WANT(NRT_INVALID, nrt_profile_stop("nothing.ntff"));
    HOLDS(access("nothing.ntff", F_OK) != 0);

    /* nowhere to write: the execution is done all the same */
    OK(nrt_profile_start(model, "/nonexistent/folder/profile.ntff"));
    OK(nrt_execute(model, in.set, out.set));
    WANT(NRT_FAILURE, nrt_profile_stop("/nonexistent/folder/profile.ntff"));

    OK(nrt_profile_start(model, "gone.ntff"));
    OK(nrt_unload(model));
    WANT(NRT_INVALID, nrt_profile_stop("gone.ntff"));
    drop(&in);
    drop(&out);
    nrt_close();
    puts("done");
    return 0;
}
