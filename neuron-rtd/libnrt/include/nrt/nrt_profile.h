/* Profiles of models. */
#pragma once

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the next execution of a model as an NTFF; both calls take the name of
 * the file. Further nodes on cores have files of their own beside it. Stop is
 * NRT_INVALID where no execution has ended since start. */
NRT_STATUS nrt_profile_start(nrt_model_t *model, const char *filename);
NRT_STATUS nrt_profile_stop(const char *filename);

/* Profiles of every model, kept and written on demand: the options are there,
 * starting is not served on a simulated instance. */
typedef struct nrt_profile_continuous_options nrt_profile_continuous_options_t;
NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t **options);
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t *options);
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t *options,
                                                         const char *output_dir);
NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t *options);
NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t *options);
NRT_STATUS nrt_profile_continuous_stop(void);

/* Inspection by NEURON_RT_INSPECT_ENABLE and _ON_FAIL. It begins where neither
 * asks for anything; else it is not served on a simulated instance. */
NRT_STATUS nrt_inspect_begin(void);
NRT_STATUS nrt_inspect_stop(void);

/* The same by options, null for the defaults: session 1, "./output", every
 * activity, neither always nor on failure. */
typedef struct nrt_inspect_config nrt_inspect_config_t;
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t *options);
NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t **options);
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t *options);
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t *options);
NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t *options, int session_id);
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t *options,
                                             const char *output_dir);
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t *options,
                                                              uint64_t sys_trace_max_events_per_nc);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t *options,
                                                         uint32_t nc_idx, bool enabled);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t *options, const char *event_type, bool enabled);
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t *options,
                                                 bool enable_inspect);
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t *options,
                                                         bool enable_inspect_on_fail);

/* "system_profile", "device_profile", "host_memory", "cpu_util", or "all". */
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t *options,
                                           const char *activity_type, bool enabled);

/* Lists of words: to be freed word by word with free, or all at once here. */
NRT_STATUS nrt_inspect_config_get_all_activity_types(const char ***activity_types, size_t *count);
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t *options,
                                                         const char ***activity_types,
                                                         size_t *count);
void nrt_inspect_config_free_activity_types(const char **activity_types, size_t count);

#ifdef __cplusplus
}
#endif
