/* One end of an SCTP association by usrsctp, over raw IP: a peer for our own.
 *
 *     usrsctp_peer listen PORT [NAME=VALUE]...
 *     usrsctp_peer connect ADDRESS PORT LOCAL_PORT OCTETS [NAME=VALUE]...
 *
 * Messages are consecutive pieces of the pattern of crates/wire/src/pattern.rs,
 * in order on stream 0. The listener checks it and says what it got, and when
 * the last of it came, in seconds of CLOCK_MONOTONIC; who connects says when it
 * began to.
 *
 * Settings: `receive_buffer` in octets; `sack_frequency`, packets for each SACK,
 * and `sack_delay` in ms, which a SACK waits at most; `heartbeat`, their interval
 * in ms; `ip`, 4 or 6; `local`, an address to bind to, the last that is given first;
 * `numbered=1` for messages
 * on any streams that each have a place of their own in the pattern, by their
 * payload protocol identifier, as crates/sim/src/messages.rs has them. Of who
 * connects: `message`, octets of one; `streams`, over which numbered messages go
 * in turn; `wait`, ms from the program's start until it connects, so that starting
 * makes nobody late; `initial_window` in packets, 0 for the rule of RFC 4960, and
 * `max_burst`, 0 for none, where usrsctp's own are not meant. */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

/* The word of the pattern that holds the octets from 8 * index on. */
static uint64_t word(uint64_t index)
{
	uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return (z & 0x0f0f0f0f0f0f0f0fu) + 0x6161616161616161u;
}

static void fill(uint8_t *out, uint64_t position, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t octets = word((position + i) / 8) >> (8 * ((position + i) % 8));
		for (size_t end = i + 8 - (position + i) % 8; i < n && i < end; i++, octets >>= 8)
			out[i] = octets;
	}
}

static size_t wrong_among(const uint8_t *octets, uint64_t position, size_t n)
{
	static uint8_t expected[65536];
	size_t wrong = 0;
	fill(expected, position, n);
	if (memcmp(octets, expected, n) == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		wrong += octets[i] != expected[i];
	return wrong;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static struct {
	const char *name;
	int value;
} settings[] = {
	{ "receive_buffer", 0 }, { "sack_frequency", 0 }, { "sack_delay", 0 }, { "numbered", 0 },
	{ "heartbeat", 500 }, { "ip", 4 }, { "message", 1000 }, { "streams", 1 },
	{ "initial_window", -1 }, { "max_burst", -1 }, { "wait", 0 },
};

static int setting(const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(settings[i].name, name) == 0)
			return settings[i].value;
	abort();
}

/* Addresses to bind to, in order; all when there are none. */
static const char *locals[4];
static size_t locals_len;

/* Takes NAME=VALUE; gives 0 for what is not a setting. */
static int set(const char *text)
{
	if (strncmp(text, "local=", 6) == 0 && locals_len < 4) {
		locals[locals_len++] = text + 6;
		return 1;
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		size_t n = strlen(settings[i].name);
		if (strncmp(text, settings[i].name, n) == 0 && text[n] == '=') {
			settings[i].value = atoi(text + n + 1);
			return 1;
		}
	}
	return 0;
}

/* An address of either family, and its length. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t size_of(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
}

static union address address(const char *text, uint16_t port)
{
	union address a = { 0 };
	if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1) {
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons(port);
	} else if (inet_pton(AF_INET, text, &a.v4.sin_addr) == 1) {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons(port);
	} else {
		errno = EINVAL;
		fail(text);
	}
	return a;
}

static struct socket *make(uint16_t port)
{
	union address any = address(setting("ip") == 6 ? "::" : "0.0.0.0", port);
	struct socket *s = usrsctp_socket(any.any.sa_family, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL,
					  0, NULL);
	struct sctp_rtoinfo rto = { .srto_initial = 500, .srto_min = 200, .srto_max = 2000 };
	struct sctp_paddrparams path = { .spp_flags = SPP_HB_ENABLE, .spp_hbinterval = setting("heartbeat"),
					 .spp_pathmaxrxt = 2 };
	if (s == NULL)
		fail("socket");
	if (locals_len == 0 && usrsctp_bind(s, &any.any, size_of(&any)) != 0)
		fail("bind");
	for (size_t i = 0; i < locals_len; i++) {
		union address own = address(locals[i], port);
		if (usrsctp_bindx(s, &own.any, 1, SCTP_BINDX_ADD_ADDR) != 0)
			fail("bindx");
	}
	if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof(rto)) != 0)
		fail("SCTP_RTOINFO");
	if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path)) != 0)
		fail("SCTP_PEER_ADDR_PARAMS");
	if (setting("receive_buffer") > 0) {
		int octets = setting("receive_buffer");
		if (usrsctp_setsockopt(s, SOL_SOCKET, SO_RCVBUF, &octets, sizeof(octets)) != 0)
			fail("SO_RCVBUF");
	}
	if (setting("numbered")) {
		int on = 1;
		if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof(on)) != 0)
			fail("SCTP_RECVRCVINFO");
	}
	if (setting("sack_frequency") > 0) {
		struct sctp_sack_info sack = { .sack_delay = setting("sack_delay"),
					       .sack_freq = setting("sack_frequency") };
		if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_DELAYED_SACK, &sack, sizeof(sack)) != 0)
			fail("SCTP_DELAYED_SACK");
	}
	return s;
}

#define UNREGISTERED 65536u /* the identifier of the first message */

static void receive(struct socket *s)
{
	static uint8_t buffer[65536];
	uint64_t got = 0, wrong = 0, within = 0;
	struct timespec at = { 0 };
	for (;;) {
		struct sctp_rcvinfo info;
		socklen_t info_len = sizeof(info);
		unsigned int type;
		int flags = 0;
		ssize_t n = usrsctp_recvv(s, buffer, sizeof(buffer), NULL, NULL, &info, &info_len,
					  &type, &flags);
		if (n <= 0)
			break;
		if (flags & MSG_NOTIFICATION)
			continue;
		uint64_t at_octet = got;
		if (setting("numbered"))
			at_octet = ((uint64_t)(ntohl(info.rcv_ppid) - UNREGISTERED) << 32) + within;
		wrong += wrong_among(buffer, at_octet, n);
		got += n;
		within = flags & MSG_EOR ? 0 : within + n;
		clock_gettime(CLOCK_MONOTONIC, &at);
	}
	printf("got %llu wrong %llu at %lld.%09ld\n", (unsigned long long)got,
	       (unsigned long long)wrong, (long long)at.tv_sec, at.tv_nsec);
	fflush(stdout);
}

static void transmit(struct socket *s, uint64_t total)
{
	static uint8_t message[65536];
	uint64_t most = setting("message"), number = 0;
	if (most < 1 || most > sizeof(message) || setting("streams") < 1) {
		errno = EINVAL;
		fail("message or streams");
	}
	for (uint64_t sent = 0; sent < total; number++) {
		size_t n = total - sent < most ? total - sent : most;
		struct sctp_sndinfo info = { 0 };
		if (setting("numbered")) {
			info.snd_ppid = htonl(UNREGISTERED + number);
			info.snd_sid = number % setting("streams");
		}
		fill(message, setting("numbered") ? number << 32 : sent, n);
		if (usrsctp_sendv(s, message, n, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO,
				  0) < 0)
			fail("send");
		sent += n;
	}
	printf("sent %llu\n", (unsigned long long)total);
	fflush(stdout);
}

/* A kernel without SCTP answers "protocol unreachable", which ends associations
 * (RFC 9260 section 10), to what finds the raw sockets full. To one more socket,
 * whose filter takes nothing, there is always room. */
static void have_the_protocol(void)
{
	struct sock_filter nothing = { .code = BPF_RET | BPF_K, .k = 0 };
	struct sock_fprog filter = { .len = 1, .filter = &nothing };
	int s = socket(AF_INET, SOCK_RAW, IPPROTO_SCTP);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0)
		fail("raw socket");
}

int main(int argc, char **argv)
{
	usrsctp_init(0, NULL, NULL);
	have_the_protocol();
	/* Others than usrsctp answer for ports that are not ours. */
	usrsctp_sysctl_set_sctp_blackhole(2);
	while (argc > 2 && set(argv[argc - 1]))
		argc--; /* the last setting first */
	if (setting("initial_window") >= 0)
		usrsctp_sysctl_set_sctp_initial_cwnd(setting("initial_window"));
	if (setting("max_burst") >= 0)
		usrsctp_sysctl_set_sctp_max_burst_default(setting("max_burst"));
	if (argc == 3 && strcmp(argv[1], "listen") == 0) {
		struct socket *s = make(atoi(argv[2])), *connection;
		if (usrsctp_listen(s, 1) != 0)
			fail("listen");
		connection = usrsctp_accept(s, NULL, NULL);
		if (connection == NULL)
			fail("accept");
		receive(connection);
		usrsctp_close(connection);
		usrsctp_close(s);
	} else if (argc == 6 && strcmp(argv[1], "connect") == 0) {
		struct socket *s = make(atoi(argv[4]));
		union address to = address(argv[2], atoi(argv[3]));
		struct timespec at;
		usleep(1000 * setting("wait"));
		clock_gettime(CLOCK_MONOTONIC, &at);
		printf("began at %lld.%09ld\n", (long long)at.tv_sec, at.tv_nsec);
		if (usrsctp_connect(s, &to.any, size_of(&to)) != 0)
			fail("connect");
		transmit(s, strtoull(argv[5], NULL, 10));
		usrsctp_shutdown(s, SHUT_WR);
		receive(s); /* until the association has ended */
		usrsctp_close(s);
	} else {
		fprintf(stderr, "listen PORT, or connect ADDRESS PORT LOCAL_PORT OCTETS,"
				" and settings\n");
		return 2;
	}
	/* A second for what is still under way. */
	for (int i = 0; i < 100 && usrsctp_finish() != 0; i++)
		usleep(10000);
	return 0;
}
