/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A law as a congestion control of the running kernel (BPF struct_ops). What Linux decides stays its own:
 * recovery, the way from a window to its threshold (proportional rate reduction), restart after idleness,
 * pacing. What the law decides is the threshold and the growth.
 *
 * Siblings of a coupled law are the subflows of one MPTCP connection. Each has a slot of the connection's entry in
 * `connections`, whose key is the address of the connection's socket, which the subflow's context has.
 */
#ifndef ANABRANCH_KERNEL_H
#define ANABRANCH_KERNEL_H

/* A test of laws without the kernel leaves all this out. */
#ifndef LAW_ALONE

#include "bpf.h"

struct sock_common { u16 skc_num, skc_dport; } KERNEL_TYPE;
struct sock { struct sock_common __sk_common; } KERNEL_TYPE;
struct inet_connection_sock { void *icsk_ulp_data; } KERNEL_TYPE;
struct minmax_sample { u32 t, v; } KERNEL_TYPE;
struct minmax { struct minmax_sample s[3]; } KERNEL_TYPE;
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd, snd_ssthresh, snd_cwnd_clamp, snd_nxt, snd_una, srtt_us, mss_cache;
	u32 max_packets_out, delivered;
	u64 bytes_acked;
	struct minmax rtt_min;
	u8 is_cwnd_limited : 1;
	_Bool is_mptcp;
} KERNEL_TYPE;
struct mptcp_subflow_context { struct sock *conn; u32 token; } KERNEL_TYPE;
struct ack_sample { s32 rtt_us; } KERNEL_TYPE;

enum { CA_EVENT_TX_START = 0, CA_EVENT_CWND_RESTART = 1, CA_EVENT_LOSS = 3 };
enum { TCP_CA_LOSS = 4, TCP_CONG_NON_RESTRICTED = 1 };

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* MPTCP has 8 subflows at most. */
#define SLOTS (OTHERS + 1)
#define CONNECTIONS 4096

/* crates/kernel/src/terms.rs has the same. */
struct slot {
	u64 owner; /* address of the subflow's socket; 0 where the slot is free */
	struct sibling path;
	/* for observers */
	u64 term;
	u32 token; /* of the connection, as MPTCP_INFO has it */
	u16 local; /* port, host order */
	u16 remote; /* port, network order */
};

struct connection { struct slot slots[SLOTS]; };

/* What did not fit, and how much did. crates/kernel/src/counts.rs has the same. */
struct counts {
	u64 flows;             /* sockets that began with this algorithm */
	u64 coupled;           /* of them subflows that found a slot */
	u64 no_storage;        /* sockets without memory: plain Reno */
	u64 no_connection;     /* subflows of connections beyond CONNECTIONS: uncoupled */
	u64 no_slot;           /* subflows beyond SLOTS of theirs: uncoupled */
};

struct flow {
	struct law law;
	u64 connection; /* key in `connections`; 0 without */
	u32 slot;       /* the slot and one; 0 without */
	u32 uncoupled;  /* there was no room for it, which has been counted */
	u32 reduced;    /* the threshold was computed, and nothing has happened since */
	u32 delivered;
};

struct {
	MAP_NUMBER(type, MAP_SK_STORAGE);
	MAP_NUMBER(map_flags, NO_PREALLOC);
	MAP_TYPE(key, int);
	MAP_TYPE(value, struct flow);
} flows SECTION(".maps");

struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct counts);
} counts SECTION(".maps");

#define COUNT(what) \
	do { \
		u32 zero = 0; \
		struct counts *c = map_lookup(&counts, &zero); \
		if (c) \
			__sync_fetch_and_add(&c->what, 1); \
	} while (0)

#ifdef COUPLED
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, CONNECTIONS);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct connection);
} connections SECTION(".maps");

/* What an entry begins as: too large for the stack. */
struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct connection);
} empty SECTION(".maps");

/* The connection of a subflow: its address, 0 where there is none. */
inline_always u64 connection_of(struct tcp_sock *tp)
{
	struct mptcp_subflow_context *context;
	struct sock *conn = 0;
	if (!tp->is_mptcp)
		return 0;
	context = tp->inet_conn.icsk_ulp_data;
	if (!context || read_kernel(&conn, sizeof(conn), &context->conn))
		return 0;
	return (u64)conn;
}

/* By what observers find a subflow. */
inline_always void name(struct slot *s, struct tcp_sock *tp)
{
	struct mptcp_subflow_context *context = tp->inet_conn.icsk_ulp_data;
	u32 token = 0;
	if (context)
		read_kernel(&token, sizeof(token), &context->token);
	s->token = token;
	s->local = ((struct sock *)tp)->__sk_common.skc_num;
	s->remote = ((struct sock *)tp)->__sk_common.skc_dport;
}

/* The subflow's slot of its connection, taken where it has none yet. */
static NOT_INLINED int join(struct flow *f, u64 key, struct tcp_sock *tp)
{
	struct connection *c, *nothing;
	u64 me = (u64)tp;
	u32 zero = 0;
	if (!f || !key)
		return 0;
	c = map_lookup(&connections, &key);
	nothing = map_lookup(&empty, &zero);
	if (!c && nothing) {
		/* Another subflow may have been faster. */
		map_update(&connections, &key, nothing, ONLY_NEW);
		c = map_lookup(&connections, &key);
	}
	if (!c) {
		COUNT(no_connection);
		f->uncoupled = 1;
		return 0;
	}
	for (u32 i = 0; i < SLOTS; i++)
		if (__sync_val_compare_and_swap(&c->slots[i].owner, 0, me) == 0) {
			f->connection = key;
			f->slot = i + 1;
			name(&c->slots[i], tp);
			COUNT(coupled);
			return 0;
		}
	COUNT(no_slot);
	f->uncoupled = 1;
	return 0;
}

/* Copies what the siblings published: those of the other slots, in their order. */
static NOT_INLINED int hear(struct flow *f)
{
	struct connection *c;
	u64 key;
	u32 mine;
	if (!f)
		return 0;
	key = f->connection;
	mine = f->slot - 1;
	c = f->slot ? map_lookup(&connections, &key) : 0;
	for (u32 i = 0; i < OTHERS; i++) {
		if (c) {
			struct slot *s = &c->slots[i >= mine ? i + 1 : i];
			f->law.other[i] = s->path;
			if (!s->owner)
				f->law.other[i].rtt_us = 0;
		} else {
			f->law.other[i].rtt_us = 0;
		}
	}
	if (!c)
		f->slot = 0; /* a sibling that left last has taken the entry with it */
	return 0;
}

/* Tells siblings of this path. */
static NOT_INLINED int tell(struct flow *f, u64 me)
{
	struct connection *c;
	struct slot *s;
	u64 key;
	u32 i;
	if (!f || !f->slot)
		return 0;
	key = f->connection;
	c = map_lookup(&connections, &key);
	i = f->slot - 1;
	if (!c || i >= SLOTS)
		return 0;
	s = &c->slots[i];
	if (s->owner != me) {
		f->slot = 0;
		return 0;
	}
	s->path.w = f->law.now.w >> 16;
	s->path.told = f->law.told;
	s->path.rtt_us = f->law.srtt_us;
	s->term = f->law.term;
	return 0;
}

/* Frees the slot, and the entry with the last. */
static NOT_INLINED int leave(struct flow *f, u64 me)
{
	struct connection *c;
	u64 key;
	u32 left = 0;
	if (!f || !f->connection)
		return 0;
	key = f->connection;
	c = map_lookup(&connections, &key);
	if (!c)
		return 0;
	for (u32 i = 0; i < SLOTS; i++) {
		struct slot *s = &c->slots[i];
		if (s->owner == me) {
			s->path.rtt_us = 0;
			s->owner = 0;
		}
		left += s->owner != 0;
	}
	if (!left)
		map_delete(&connections, &key);
	return 0;
}
#endif

/* The path as the law sees it. */
inline_always void look(struct law *l, struct tcp_sock *tp)
{
	l->now_us = ktime_ns() / 1000;
	l->srtt_us = tp->srtt_us >> 3;
	l->min_rtt_us = tp->rtt_min.s[0].v;
	l->mss = tp->mss_cache;
	l->received = tp->bytes_acked;
	l->sent = l->received + (u32)(tp->snd_nxt - tp->snd_una);
	l->cwnd = tp->snd_cwnd;
	l->cwnd_ssthresh = tp->snd_ssthresh;
}

inline_always void happen(struct flow *f, struct tcp_sock *tp, u32 event)
{
	f->law.event = event;
#ifdef COUPLED
	if (!f->slot && !f->uncoupled)
		join(f, connection_of(tp), tp);
	hear(f);
#else
	(void)tp;
#endif
	anabranch_law(&f->law);
#ifdef COUPLED
	tell(f, (u64)tp);
#endif
}

inline_always struct flow *flow_of(struct sock *sk)
{
	return sk_storage(&flows, sk, 0, 0);
}

/* Linux's own test whether the window limits the sender. */
inline_always int is_limited_by_window(struct tcp_sock *tp)
{
	if (READ_BITS(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SECTION("struct_ops/ab_init")
void ab_init(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = sk_storage(&flows, sk, 0, CREATE);
	COUNT(flows);
	if (!f) {
		COUNT(no_storage);
		return;
	}
	__builtin_memset(f, 0, sizeof(*f));
	f->delivered = tp->delivered;
	look(&f->law, tp);
	f->law.now.w = min64(f->law.cwnd, MOST_SEGMENTS) << 32;
	f->law.now.ssthresh = INFINITE;
}

#ifdef COUPLED
SECTION("struct_ops/ab_release")
void ab_release(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct flow *f = flow_of(sk);
	if (f)
		leave(f, (u64)sk);
}
#endif

SECTION("struct_ops/ab_cong_avoid")
void ab_cong_avoid(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	u32 acked = (u32)args[2];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	int grows = is_limited_by_window(tp);
	if (!f) { /* Reno of a sort that keeps no state */
		if (grows && (tp->snd_cwnd < tp->snd_ssthresh || random_u32() % tp->snd_cwnd < acked))
			tp->snd_cwnd = tp->snd_cwnd + 1;
		return;
	}
	f->reduced = 0;
	look(&f->law, tp);
	f->law.acked = acked;
	happen(f, tp, grows ? EVENT_ACK : EVENT_LIMITED);
	f->law.rtt_us = 0;
	if (grows) {
		u32 cwnd = f->law.now.w >> 32, clamp = tp->snd_cwnd_clamp;
		tp->snd_cwnd = cwnd < clamp ? cwnd : clamp;
#ifdef STEERS
		if (f->law.now.ssthresh != INFINITE)
			tp->snd_ssthresh = f->law.now.ssthresh >> 32;
#endif
	}
}

SECTION("struct_ops/ab_ssthresh")
u32 ab_ssthresh(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	if (!f)
		return tp->snd_cwnd > 4 ? tp->snd_cwnd / 2 : 2;
	look(&f->law, tp);
	f->law.base = 0;
	happen(f, tp, EVENT_LOSS);
	f->reduced = 1;
	return f->law.now.ssthresh >> 32;
}

SECTION("struct_ops/ab_undo_cwnd")
u32 ab_undo_cwnd(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	u32 cwnd = tp->snd_cwnd, restored;
	if (!f)
		return cwnd;
	look(&f->law, tp);
	happen(f, tp, EVENT_UNDO);
	restored = f->law.now.w >> 32;
	return restored > cwnd ? restored : cwnd;
}

SECTION("struct_ops/ab_cwnd_event")
void ab_cwnd_event(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	u32 event = (u32)args[1];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	if (!f)
		return;
	if (event == CA_EVENT_LOSS && f->reduced) {
		/* The threshold was computed a moment ago, as for a loss: it was a timeout. */
		f->law.now = f->law.before;
		f->law.backed_off = 0;
		happen(f, tp, EVENT_TIMEOUT);
		tp->snd_ssthresh = f->law.now.ssthresh >> 32;
		f->reduced = 0;
	} else if (event == CA_EVENT_TX_START || event == CA_EVENT_CWND_RESTART) {
		look(&f->law, tp);
		happen(f, tp, event == CA_EVENT_TX_START ? EVENT_SENT : EVENT_IDLE);
	}
}

SECTION("struct_ops/ab_pkts_acked")
void ab_pkts_acked(u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	const struct ack_sample *sample = (const struct ack_sample *)args[1];
	struct flow *f = flow_of(sk);
	if (!f)
		return;
	if (sample->rtt_us > 0)
		f->law.rtt_us = sample->rtt_us;
#ifdef FEEDBACK
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	look(&f->law, tp);
	f->law.delivered = tp->delivered - f->delivered;
	f->delivered = tp->delivered;
	happen(f, tp, EVENT_FEEDBACK);
#endif
}

SECTION(".struct_ops")
struct tcp_congestion_ops anabranch = {
	.init = (void *)ab_init,
#ifdef COUPLED
	.release = (void *)ab_release,
#endif
	.ssthresh = (void *)ab_ssthresh,
	.cong_avoid = (void *)ab_cong_avoid,
	.cwnd_event = (void *)ab_cwnd_event,
	.pkts_acked = (void *)ab_pkts_acked,
	.undo_cwnd = (void *)ab_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};

char LICENSE[] SECTION("license") = "Dual MIT/GPL";

#endif /* LAW_ALONE */
#endif
