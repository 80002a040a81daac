/* The library that the build made of src/mps/kernels, as it is. */
        .section .rodata
        .balign 64
        .globl  metalloid_mps_kernels
        .globl  metalloid_mps_kernels_end
metalloid_mps_kernels:
        .incbin KERNELS_METALLIB
metalloid_mps_kernels_end:
        .section .note.GNU-stack, "", %progbits
