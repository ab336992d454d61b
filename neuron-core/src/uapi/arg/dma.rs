//! DMA engines, queues and descriptors. Engine and queue ids are physical.

super::arguments! {
    /// State of an engine.
    NeuronDmaEngState, "neuron_dma_eng_state", 20 {
        /// Revision of the hardware.
        revision_id: u32,
        /// Queues that the hardware has.
        max_queues: u32,
        /// Queues that are enabled.
        num_queues: u32,
        /// State of the transmit side.
        tx_state: u32,
        /// State of the receive side.
        rx_state: u32,
    }

    /// State of one side of a queue.
    NeuronDmaQueueState, "neuron_dma_queue_state", 48 {
        /// Status of the hardware.
        hw_status: u32,
        /// Status that the driver keeps.
        sw_status: u32,
        /// Address of the ring.
        base_addr: u64,
        /// Length of the ring.
        length: u32,
        /// Head.
        head_pointer: u32,
        /// Tail.
        tail_pointer: u32,
        /// Address of the completion ring.
        completion_base_addr: u64,
        /// Head of the completion ring.
        completion_head: u32,
    }

    /// Argument of `DMA_ENG_INIT`, which does nothing.
    DmaEngInit, "dma_eng_init", 4 {
        /// Engine.
        eng_id: u32,
    }

    /// Argument of `DMA_ENG_SET_STATE`.
    DmaEngSetState, "dma_eng_set_state", 8 {
        /// Engine.
        eng_id: u32,
        /// State.
        state: u32,
    }

    /// Argument of `DMA_ENG_GET_STATE`.
    DmaEngGetState, "dma_eng_get_state", 16 {
        /// Engine.
        eng_id: u32,
        /// Address of a [`NeuronDmaEngState`].
        state: u64,
    }

    /// Argument of `DMA_QUEUE_INIT`.
    DmaQueueInit, "dma_queue_init", 48 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
        /// Descriptors of the transmit ring.
        tx_desc_count: u32,
        /// Descriptors of the receive ring.
        rx_desc_count: u32,
        /// Memory of the transmit ring.
        tx_handle: u64,
        /// Memory of the receive ring.
        rx_handle: u64,
        /// Memory of the completion ring, 0 for none.
        rxc_handle: u64,
        /// Port of the memory channel.
        axi_port: u32,
    }

    /// Argument of `DMA_QUEUE_INIT_BATCH`.
    DmaQueueInitBatch, "dma_queue_init_batch", 12296 {
        /// Number of entries, below 256.
        count: u32,
        /// The entries.
        entries: [DmaQueueInit; 256],
    }

    /// Argument of `DMA_QUEUE_RELEASE`.
    DmaQueueRelease, "dma_queue_release", 8 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
    }

    /// Argument of `DMA_ACK_COMPLETED`.
    DmaAckCompleted, "dma_ack_completed", 12 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
        /// Completions taken.
        count: u32,
    }

    /// Argument of `DMA_QUEUE_COPY_START`.
    DmaQueueCopyStart, "dma_queue_copy_start", 16 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
        /// Transmit descriptors to add.
        tx_desc_count: u32,
        /// Receive descriptors to add.
        rx_desc_count: u32,
    }

    /// Argument of `DMA_QUEUE_GET_STATE`.
    DmaQueueGetState, "dma_queue_get_state", 24 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
        /// Address of the transmit side's [`NeuronDmaQueueState`].
        tx: u64,
        /// Address of the receive side's [`NeuronDmaQueueState`].
        rx: u64,
    }

    /// Argument of `DMA_COPY_DESCRIPTORS64`.
    DmaCopyDescriptors64, "dma_copy_descriptors64", 40 {
        /// Memory of the ring.
        mem_handle: u64,
        /// Address of the descriptors.
        buffer: u64,
        /// Number of descriptors.
        num_descs: u32,
        /// Offset in the ring in bytes.
        offset: u64,
        /// [`crate::uapi::enums::DmaQueueType`].
        queue_type: u32,
    }

    /// Argument of `DMA_DESCRIPTOR_COPYOUT`.
    DmaDescriptorCopyout, "dma_descriptor_copyout", 32 {
        /// Engine.
        eng_id: u32,
        /// Queue.
        qid: u32,
        /// [`crate::uapi::enums::DmaQueueType`].
        r#type: u32,
        /// First descriptor.
        start_index: u32,
        /// Number of descriptors.
        count: u32,
        /// Address of room for them.
        buffer: u64,
    }

    /// Argument of `DMA_QUIESCE_QUEUES`, which newer drivers do not have.
    DmaQuiesceQueues, "dma_quiesce_queues", 264 {
        /// Physical core.
        nc_id: u32,
        /// Number of engines.
        engine_count: u32,
        /// Queues of each engine, one bit each.
        queue_mask: [u32; 64],
    }
}
