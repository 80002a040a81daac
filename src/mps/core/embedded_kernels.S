/* A library that the build made of a folder of Metal kernels, as it is; the build names its first byte and its end. */
        .section .rodata
        .balign 64
        .globl  KERNELS_BEGIN
        .globl  KERNELS_END
KERNELS_BEGIN:
        .incbin KERNELS_METALLIB
KERNELS_END:
        .section .note.GNU-stack, "", %progbits
