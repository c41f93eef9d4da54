/* The cubins of kernel set mixed. */
	.section .rodata
	.balign 64
	.globl kernel_2_cubin
kernel_2_cubin:
	.incbin "kernel_2.cubin"
	.section .note.GNU-stack,"",@progbits
