/* usrsctp as a stack under test: `anabranch drill --against usrsctp` compiles this program and runs one for
 * each script.
 *
 * It reads requests from its standard input and answers each on its standard output: first the packets
 * that the stack has sent meanwhile, then the result. Both are the structures below, in the machine's own
 * order of octets, and octets behind them. Packets are those of SCTP without IP (AF_CONN).
 *
 * The stack lives in the time of the script. It has no threads, its timers run when a request lets time
 * pass, and the only clock that the library reads, gettimeofday(), is the one below. No socket blocks:
 * who asks waits and asks again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <usrsctp.h>

#include "layout.h"

struct request {
	int32_t call;
	int32_t fd;
	int32_t a, b, c; /* arguments that are numbers */
	uint32_t len;	 /* octets behind it */
	int64_t time;	 /* microseconds since the script began */
};

struct reply {
	int32_t is_packet;
	int32_t value; /* the result, or the packet's octet of DSCP and ECN */
	int32_t error; /* errno, or 0 */
	uint32_t len;
	int64_t time;
};

/* In the order of `Ask` in program.rs. */
enum call {
	LAYOUT, PASS, INPUT, SYSCTL, SOCKET, BIND, LISTEN, ACCEPT, CONNECT, SEND, RECEIVE, SET, GET,
	SHUTDOWN, CLOSE, PEEL_OFF, ADDRESSES, EVENTS,
};

#define LARGEST (1 << 22) /* octets of a request, and of a message */
#define SOCKETS 256
#define EPOCH 1000000000 /* seconds: no date of the library's is 0, which it takes for none */

static int64_t now;
static unsigned sent;
static struct socket *sockets[SOCKETS];
static char input[LARGEST], buffer[LARGEST];
/* The other end; a pointer is an address of AF_CONN. */
static void *const peer = (void *)1;

int gettimeofday(struct timeval *time, void *zone)
{
	(void)zone;
	time->tv_sec = EPOCH + now / 1000000;
	time->tv_usec = now % 1000000;
	return 0;
}

static void transmit(const void *octets, size_t len)
{
	if (fwrite(octets, 1, len, stdout) != len)
		exit(1);
}

static void reply(int is_packet, int value, int error, const void *octets, size_t len)
{
	struct reply head = { is_packet, value, error, len, now };
	transmit(&head, sizeof head);
	transmit(octets, len);
}

static int output(void *to, void *octets, size_t len, uint8_t tos, uint8_t df)
{
	(void)to, (void)df;
	reply(1, tos, 0, octets, len);
	sent++;
	return 0;
}

/* Lets time pass up to `to`, or until a packet leaves or other calls than before could be made on
 * `watched`; 1 if that was so. Timers have milliseconds. */
static int pass(int64_t to, struct socket *watched)
{
	unsigned before = sent;
	int could = watched ? usrsctp_get_events(watched) : 0;
	while (now / 1000 < to / 1000) {
		now = (now / 1000 + 1) * 1000;
		usrsctp_handle_timers(1);
		if (sent != before || (watched && usrsctp_get_events(watched) != could))
			return 1;
	}
	if (now < to)
		now = to;
	return 0;
}

static void tell_layout(void)
{
	static char text[1 << 16];
	size_t len = 0;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		len += snprintf(text + len, sizeof text - len, "%s %s %s %s %zu %zu\n", lines[i].kind, lines[i].name,
				lines[i].field, lines[i].type, lines[i].a, lines[i].b);
	reply(0, 0, 0, text, len);
}

static struct sockaddr_conn address(int port)
{
	struct sockaddr_conn it = { .sconn_family = AF_CONN, .sconn_port = htons(port), .sconn_addr = peer };
	return it;
}

/* The number of a socket, which does not block; -1 for none. */
static int enter(struct socket *socket)
{
	for (int i = 0; socket && i < SOCKETS; i++) {
		if (!sockets[i]) {
			sockets[i] = socket;
			usrsctp_set_non_blocking(socket, 1);
			return i;
		}
	}
	return -1;
}

/* A socket; `mtu` is what IP leaves of that of the link. */
static int make(int type, int mtu)
{
	int it = enter(usrsctp_socket(AF_CONN, type, IPPROTO_SCTP, NULL, NULL, 0, NULL));
	struct sctp_paddrparams path = { .spp_flags = SPP_PMTUD_DISABLE };
	path.spp_address.ss_family = AF_CONN;
	path.spp_pathmtu = mtu - sizeof(struct sctp_common_header);
	if (it >= 0)
		usrsctp_setsockopt(sockets[it], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
	return it;
}

/* Sets a variable of the library by the name that FreeBSD's sysctl has, or with `_default` behind it. */
static int tune(const char *name, int value)
{
	char symbol[256];
	for (int i = 0; i < 2; i++) {
		snprintf(symbol, sizeof symbol, "usrsctp_sysctl_set_sctp_%.100s%s", name, i ? "_default" : "");
		int (*set)(uint32_t) = (int (*)(uint32_t))dlsym(RTLD_DEFAULT, symbol);
		if (set)
			return set(value);
	}
	errno = ENOENT;
	return -1;
}

static int send_message(struct socket *socket, const struct request *ask)
{
	struct sockaddr_conn to = address(ask->c);
	int has_info = ask->len > 0;
	if (ask->a < 0 || ask->a > LARGEST) {
		errno = EMSGSIZE;
		return -1;
	}
	return usrsctp_sendv(socket, buffer, ask->a, ask->c ? (struct sockaddr *)&to : NULL, ask->c ? 1 : 0,
			     has_info ? input : NULL, ask->len, has_info ? SCTP_SENDV_SPA : SCTP_SENDV_NOINFO, ask->b);
}

/* Answers with what came, before its octets where it is a notification. */
static void receive(struct socket *socket, const struct request *ask)
{
	static struct {
		int32_t port, end, notification, kind;
		struct sctp_recvv_rn info;
		char octets[1 << 16];
	} got;
	struct sockaddr_conn from = { 0 };
	socklen_t from_len = sizeof from, info_len = sizeof got.info;
	unsigned kind = SCTP_RECVV_NOINFO;
	int flags = 0;
	size_t room = ask->a < 0 ? 0 : ask->a > LARGEST ? LARGEST : ask->a;
	ssize_t n = usrsctp_recvv(socket, buffer, room, (struct sockaddr *)&from, &from_len, &got.info, &info_len,
				  &kind, &flags);
	int error = n < 0 ? errno : 0;
	got.port = ntohs(from.sconn_port);
	got.end = !!(flags & MSG_EOR);
	got.notification = !!(flags & MSG_NOTIFICATION);
	got.kind = kind;
	size_t octets = !got.notification || n < 0 ? 0 : (size_t)n > sizeof got.octets ? sizeof got.octets : (size_t)n;
	memcpy(got.octets, buffer, octets);
	reply(0, n, error, &got, offsetof(__typeof__(got), octets) + octets);
}

/* Answers with the port of the addresses of one side, and how many there are. */
static void tell_addresses(struct socket *socket, int of_peer, sctp_assoc_t id)
{
	struct sockaddr *all = NULL;
	int n = of_peer ? usrsctp_getpaddrs(socket, id, &all) : usrsctp_getladdrs(socket, id, &all);
	int error = n < 0 ? errno : 0;
	int32_t port = n > 0 ? ntohs(((struct sockaddr_conn *)all)->sconn_port) : 0;
	reply(0, n, error, &port, sizeof port);
	if (n > 0)
		of_peer ? usrsctp_freepaddrs(all) : usrsctp_freeladdrs(all);
}

/* A call on a socket that is there. */
static void call(struct socket *socket, const struct request *ask)
{
	struct sockaddr_conn to = address(ask->a);
	struct sockaddr *there = (struct sockaddr *)&to;
	socklen_t len = ask->len;
	int value = 0;
	errno = 0;
	switch (ask->call) {
	case BIND: value = usrsctp_bind(socket, there, sizeof to); break;
	case LISTEN: value = usrsctp_listen(socket, ask->a); break;
	case ACCEPT: value = enter(usrsctp_accept(socket, NULL, NULL)); break;
	case CONNECT: value = usrsctp_connect(socket, there, sizeof to); break;
	case SEND: value = send_message(socket, ask); break;
	case RECEIVE: receive(socket, ask); return;
	case SET: value = usrsctp_setsockopt(socket, ask->a, ask->b, input, len); break;
	case GET:
		value = usrsctp_getsockopt(socket, ask->a, ask->b, input, &len);
		reply(0, value, value < 0 ? errno : 0, input, value < 0 ? 0 : len);
		return;
	case SHUTDOWN: value = usrsctp_shutdown(socket, ask->a); break;
	case CLOSE:
		usrsctp_close(socket);
		sockets[ask->fd] = NULL;
		break;
	case PEEL_OFF: value = enter(usrsctp_peeloff(socket, ask->a)); break;
	case ADDRESSES: tell_addresses(socket, ask->a, ask->b); return;
	case EVENTS: value = usrsctp_get_events(socket); break;
	default: exit(1);
	}
	reply(0, value, value < 0 ? errno : 0, NULL, 0);
}

static void answer(const struct request *ask)
{
	struct socket *socket = ask->fd >= 0 && ask->fd < SOCKETS ? sockets[ask->fd] : NULL;
	int value;
	switch (ask->call) {
	case LAYOUT: tell_layout(); return;
	case PASS: value = pass(ask->time, socket); break;
	case INPUT:
		usrsctp_conninput(peer, input, ask->len, ask->a);
		value = 0;
		break;
	case SYSCTL: value = tune(input, ask->a); break;
	case SOCKET: value = make(ask->a, ask->b); break;
	default:
		if (socket)
			call(socket, ask);
		else
			reply(0, -1, EBADF, NULL, 0);
		return;
	}
	reply(0, value, value < 0 ? errno : 0, NULL, 0);
}

int main(void)
{
	struct request ask;
	usrsctp_init_nothreads(0, output, NULL);
	usrsctp_register_address(peer);
	while (fread(&ask, sizeof ask, 1, stdin) == 1) {
		if (ask.len >= LARGEST || fread(input, 1, ask.len, stdin) != ask.len)
			return 1;
		input[ask.len] = 0;
		while (ask.call != PASS && now < ask.time)
			pass(ask.time, NULL);
		answer(&ask);
		fflush(stdout);
	}
	return 0;
}
