/* A server on usrsctp that is attacked, over raw IP.
 *
 *     usrsctp_server PORT OCTETS [PORT OCTETS]...
 *
 * Whoever opens an association to a PORT gets its OCTETS in messages of 1000 and an orderly shutdown.
 * Whenever the process has more memory resident than before, it says by how much it has grown since
 * its ports were open. `crates/scenario/examples/attacks_live.rs` starts it. */

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <usrsctp.h>

#define MESSAGE 1000
#define BACKLOG 128

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* What runs by itself, with a small stack: a flood asks for hundreds. */
static void start(void *(*run)(void *), void *with)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, run, with) != 0)
		fprintf(stderr, "a thread: %s\n", strerror(errno));
	pthread_attr_destroy(&attributes);
}

struct port {
	struct socket *listener;
	uint64_t octets;
};

struct connection {
	struct socket *socket;
	uint64_t octets;
};

static void *serve(void *with)
{
	static const char message[MESSAGE];
	struct connection connection = *(struct connection *)with;
	char heard[MESSAGE];
	free(with);
	for (uint64_t sent = 0; sent < connection.octets;) {
		uint64_t left = connection.octets - sent;
		size_t n = left < MESSAGE ? left : MESSAGE;
		if (usrsctp_sendv(connection.socket, message, n, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) < 0)
			break;
		sent += n;
	}
	usrsctp_shutdown(connection.socket, SHUT_WR);
	for (;;) {
		struct sctp_rcvinfo info;
		socklen_t info_len = sizeof(info);
		unsigned int type;
		int flags = 0;
		if (usrsctp_recvv(connection.socket, heard, sizeof(heard), NULL, NULL, &info, &info_len, &type,
				  &flags) <= 0)
			break;
	}
	usrsctp_close(connection.socket);
	return NULL;
}

static void *listen_at(void *with)
{
	struct port *port = with;
	for (;;) {
		struct connection *connection = malloc(sizeof(*connection));
		if (connection == NULL)
			fail("memory");
		connection->octets = port->octets;
		connection->socket = usrsctp_accept(port->listener, NULL, NULL);
		if (connection->socket == NULL)
			free(connection);
		else
			start(serve, connection);
	}
	return NULL;
}

static struct socket *open_port(uint16_t number)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(number) };
	struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (s == NULL || usrsctp_bind(s, (struct sockaddr *)&any, sizeof(any)) != 0)
		fail("bind");
	if (usrsctp_listen(s, BACKLOG) != 0)
		fail("listen");
	return s;
}

/* A kernel without SCTP answers what finds the raw sockets full by "protocol unreachable", which ends
 * associations (RFC 9260 section 10). One more socket, whose filter takes nothing, always has room. */
static void have_the_protocol(void)
{
	struct sock_filter nothing = { .code = BPF_RET | BPF_K, .k = 0 };
	struct sock_fprog filter = { .len = 1, .filter = &nothing };
	int s = socket(AF_INET, SOCK_RAW, IPPROTO_SCTP);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0)
		fail("raw socket");
}

/* Resident memory in octets (proc(5)). */
static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;
	if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
		fail("/proc/self/statm");
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc % 2 != 1) {
		fprintf(stderr, "PORT OCTETS, once or more often\n");
		return 2;
	}
	usrsctp_init(0, NULL, NULL);
	have_the_protocol();
	/* Others than usrsctp answer for ports that are not ours. */
	usrsctp_sysctl_set_sctp_blackhole(2);
	for (int i = 1; i + 1 < argc; i += 2) {
		struct port *port = malloc(sizeof(*port));
		if (port == NULL)
			fail("memory");
		port->octets = strtoull(argv[i + 1], NULL, 10);
		port->listener = open_port(atoi(argv[i]));
		start(listen_at, port);
	}
	for (long first = resident(), most = 0;; usleep(20000)) {
		long grown = resident() - first;
		if (grown > most || most == 0) {
			most = grown > 1 ? grown : 1;
			printf("memory kB %ld\n", most / 1000);
			fflush(stdout);
		}
	}
}
