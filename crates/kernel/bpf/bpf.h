/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the programs use of BPF, so that clang alone builds them, to the same octets everywhere. */
#ifndef ANABRANCH_BPF_H
#define ANABRANCH_BPF_H

#define SECTION(name) __attribute__((section(name), used))
#define NOT_INLINED __attribute__((noinline))
/* What is used of the kernel's types; the loader finds out where it is. */
#define KERNEL_TYPE __attribute__((preserve_access_index))

/* Fields of a map's description, as loaders read them from its type. */
#define MAP_NUMBER(field, value) int(*field)[value]
#define MAP_TYPE(field, type) __typeof__(type) *field

/* From include/uapi/linux/bpf.h, the kernel's interface. */
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_SK_STORAGE = 24 };
enum { NO_PREALLOC = 1, ONLY_NEW = 1, CREATE = 1 };

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const ktime_ns)(void) = (void *)5;
static u32 (*const random_u32)(void) = (void *)7;
static void *(*const sk_storage)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*const read_kernel)(void *to, u32 size, const void *from) = (void *)113;

/* A field of bits, wherever this kernel has it. */
#define FIELD_INFO(field, what) __builtin_preserve_field_info(field, what)
#define READ_BITS(object, field) \
	({ \
		const void *at = (const void *)(object) + FIELD_INFO((object)->field, 0); \
		u64 value = 0; \
		switch (FIELD_INFO((object)->field, 1)) { \
		case 1: value = *(const u8 *)at; break; \
		case 2: value = *(const u16 *)at; break; \
		case 4: value = *(const u32 *)at; break; \
		case 8: value = *(const u64 *)at; break; \
		} \
		value <<= FIELD_INFO((object)->field, 4); \
		value >> FIELD_INFO((object)->field, 5); \
	})

#endif
