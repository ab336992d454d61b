//! Memory: allocation, copies, engine code, mapping, lists, scrubbing.

super::arguments! {
    /// Argument of `MEM_ALLOC_V2MT64`.
    MemAllocV2MemType64, "mem_alloc_v2_mem_type64", 56 {
        /// Bytes; rounded up to a page, 0 is refused.
        size: u64,
        /// Alignment in bytes, 0 for none.
        align: u64,
        /// Nonzero for host memory.
        host_memory: u32,
        /// Memory channel.
        dram_channel: u32,
        /// Memory region.
        dram_region: u32,
        /// Physical core to which it is charged.
        nc_id: u32,
        /// [`crate::uapi::enums::MemCategory`].
        mem_type: u32,
        /// Address at which the handle (64 bits) is stored.
        mem_handle: u64,
        /// Makes the size differ from the form before.
        pad: u32,
    }

    /// Argument of `MEM_FREE`.
    MemFree, "mem_free", 8 {
        /// The handle.
        mem_handle: u64,
    }

    /// Argument of `MEM_GET_EXTENDED_INFO`. A bad handle is answered with
    /// positive 22; on success driver 2.24 overwrites `mem_handle`.
    MemGetExtendedInfo, "mem_get_extended_info", 48 {
        /// The handle.
        mem_handle: u64,
        /// In: version of this struct, 1.
        version: u32,
        /// Out: nonzero for host memory.
        host_memory: u32,
        /// Out: offset for `mmap`.
        mmap_offset: u64,
        /// Out: physical address.
        pa: u64,
        /// Out: owner.
        pid: u64,
        /// Out: bytes.
        size: u64,
    }

    /// Argument of `MEM_COPY64`.
    MemCopy64, "mem_copy64", 40 {
        /// Source.
        src_mem_handle: u64,
        /// Destination.
        dst_mem_handle: u64,
        /// Bytes.
        size: u64,
        /// Offset in the source.
        src_offset: u64,
        /// Offset in the destination.
        dst_offset: u64,
    }

    /// Argument of `MEM_COPY_ASYNC64`.
    MemCopyAsync64, "mem_copy_async64", 56 {
        /// Source.
        src_mem_handle: u64,
        /// Destination.
        dst_mem_handle: u64,
        /// Bytes.
        size: u64,
        /// Offset in the source.
        src_offset: u64,
        /// Offset in the destination.
        dst_offset: u64,
        /// Address of host memory to prefetch.
        host_prefetch_addr: u64,
        /// Copy to wait for first: [`crate::uapi::enums::AsyncHandle`].
        pwait_handle: u32,
        /// Out: the slot that this copy uses.
        wait_handle: u32,
    }

    /// Argument of `MEM_COPY_ASYNC_WAIT`.
    MemCopyAsyncWait, "mem_copy_async_wait", 24 {
        /// Source.
        src_mem_handle: u64,
        /// Destination.
        dst_mem_handle: u64,
        /// The slot to wait for.
        pwait_handle: u32,
    }

    /// Argument of `MEM_BUF_COPY64`.
    MemBufCopy64, "mem_buf_copy64", 40 {
        /// Device memory.
        mem_handle: u64,
        /// Address of the caller's buffer.
        buffer: u64,
        /// Bytes.
        size: u64,
        /// Offset in the device memory.
        offset: u64,
        /// Nonzero from the buffer to the device, 0 from the device.
        copy_to_mem_handle: u32,
    }

    /// Argument of `MEMSET64`.
    Memset64, "memset64", 32 {
        /// Device memory.
        mem_handle: u64,
        /// Offset in it.
        offset: u64,
        /// The value.
        value: u32,
        /// Bytes.
        size: u64,
    }

    /// Argument of `PROGRAM_ENGINE_NC64`.
    ProgramEngineNc64, "program_engine_nc64", 40 {
        /// Physical core.
        nc_id: u32,
        /// Address on the device.
        dst: u64,
        /// Address of the code.
        buffer: u64,
        /// Bytes.
        size: u64,
        /// Offset from `dst`.
        offset: u64,
    }

    /// Argument of `MEM_MC_GET_INFO_V2`: finds an allocation by address.
    MemGetMcMmapInfoV2, "mem_get_mc_mmap_info_v2", 32 {
        /// Physical address.
        pa: u64,
        /// Out: offset for `mmap`.
        mmap_offset: u64,
        /// Out: bytes.
        size: u64,
        /// Out: handle.
        mem_handle: u64,
    }

    /// Argument of `RESOURCE_MMAP_INFO`.
    ResourceMmapInfo, "resource_mmap_info", 32 {
        /// [`crate::uapi::enums::MmapBlock`].
        block: u32,
        /// Which one of these.
        block_id: u32,
        /// [`crate::uapi::enums::MmapResource`].
        resource: u32,
        /// Out: offset for `mmap`; 0 with size 0 when the generation has none.
        offset: u64,
        /// Out: bytes.
        size: u64,
    }

    /// Argument of `DUMP_MEM_CHUNKS`. Too little room gives `EAGAIN` with the
    /// number that is needed.
    DumpMemChunks, "dump_mem_chunks", 24 {
        /// Memory channel.
        hbm_index: u32,
        /// Room in entries.
        num_entries_in: u32,
        /// Out: number of entries.
        num_entries_out: u32,
        /// Address of the [`MemChunkInfo`]s.
        data: u64,
    }

    /// One allocation of a memory channel.
    MemChunkInfo, "mem_chunk_info", 24 {
        /// Physical address.
        pa: u64,
        /// Bytes.
        size: u64,
        /// [`crate::uapi::enums::MemCategory`].
        mem_type: u32,
    }

    /// Argument of `HBM_SCRUB_START`.
    HbmScrubStart, "hbm_scrub_start", 16 {
        /// Physical core that does the work.
        nc_id: u32,
        /// Memory channel.
        hbm_index: u32,
        /// Port of the memory channel.
        axi_port: u32,
        /// The word that is written.
        init_val: u32,
    }

    /// Argument of `HBM_SCRUB_WAIT`.
    HbmScrubWait, "hbm_scrub_wait", 8 {
        /// Physical core that does the work.
        nc_id: u32,
        /// Memory channel.
        hbm_index: u32,
    }

    /// Argument of `DMABUF_FD`.
    DmabufFd, "dmabuf_fd", 24 {
        /// Address at which device memory is mapped.
        va: u64,
        /// Bytes.
        size: u64,
        /// Address at which the descriptor (32 bits) is stored.
        fd: u64,
    }
}
