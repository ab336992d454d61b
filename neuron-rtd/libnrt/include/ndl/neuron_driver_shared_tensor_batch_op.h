/* One part of a batch of copies (see nrt_tensor_read_batch). */
#ifndef NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
#define NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H

#include <stdint.h>

typedef uint64_t nrt_tensor_batch_offset_t;
typedef uint64_t nrt_tensor_batch_size_t;

typedef struct nrt_tensor_batch_op {
    nrt_tensor_batch_offset_t offset; /* into the tensor, bytes */
    nrt_tensor_batch_size_t size;     /* bytes */
    void *buffer;                     /* of the caller, `size` bytes */
} nrt_tensor_batch_op_t;

#endif
