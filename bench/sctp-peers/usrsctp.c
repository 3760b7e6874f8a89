/* usrsctp (Debian's libusrsctp) between two sockets of one process, over AF_CONN:
 * packets go from one to the other through a queue and a thread, since the
 * library may not be called from its own output. `usrsctp MESSAGE MEGABYTES
 * CRC` writes the CPU seconds of all threads; CRC 0 switches checksums off. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

struct packet {
	struct packet *next;
	void *to;
	size_t len;
	char octets[];
};

static struct packet *head, **tail = &head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int ends[2];

static int output(void *from, void *octets, size_t len, uint8_t tos, uint8_t df)
{
	(void)tos, (void)df;
	struct packet *packet = malloc(sizeof *packet + len);
	packet->next = NULL;
	packet->to = from == &ends[0] ? &ends[1] : &ends[0];
	packet->len = len;
	memcpy(packet->octets, octets, len);
	pthread_mutex_lock(&lock);
	*tail = packet;
	tail = &packet->next;
	pthread_cond_signal(&some);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void *deliver(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!head)
			pthread_cond_wait(&some, &lock);
		struct packet *packet = head;
		head = packet->next;
		if (!head)
			tail = &head;
		pthread_mutex_unlock(&lock);
		usrsctp_conninput(packet->to, packet->octets, packet->len, 0);
		free(packet);
	}
	return NULL;
}

static void check(int failed, const char *what)
{
	if (failed) {
		perror(what);
		exit(1);
	}
}

static struct socket *make(int end)
{
	struct socket *socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	check(!socket, "socket");
	int buffer = 1 << 20, on = 1;
	check(usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer), "SO_RCVBUF");
	check(usrsctp_setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), "SO_SNDBUF");
	check(usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on), "SCTP_NODELAY");
	struct sctp_paddrparams path = { 0 };
	path.spp_address.ss_family = AF_CONN;
	path.spp_flags = SPP_PMTUD_DISABLE;
	path.spp_pathmtu = 1480;
	usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
	struct sockaddr_conn own = { .sconn_family = AF_CONN, .sconn_port = htons(end + 1), .sconn_addr = &ends[end] };
	check(usrsctp_bind(socket, (struct sockaddr *)&own, sizeof own), "bind");
	return socket;
}

static size_t size, total;
static struct socket *client;

static void *sender(void *unused)
{
	(void)unused;
	char *message = malloc(size);
	for (size_t i = 0; i < size; i++)
		message[i] = i * 31 + i / 256;
	for (size_t sent = 0; sent < total; sent += size)
		check(usrsctp_sendv(client, message, size, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) < 0, "send");
	return NULL;
}

static double cpu(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	size = atoi(argv[1]);
	total = (size_t)atoi(argv[2]) * 1000000;
	usrsctp_init(0, output, NULL);
	usrsctp_enable_crc32c_offload();
	if (atoi(argv[3]))
		usrsctp_disable_crc32c_offload();
	usrsctp_sysctl_set_sctp_ecn_enable(0);
	usrsctp_register_address(&ends[0]);
	usrsctp_register_address(&ends[1]);
	pthread_t thread;
	pthread_create(&thread, NULL, deliver, NULL);
	client = make(0);
	struct socket *listener = make(1);
	check(usrsctp_listen(listener, 1), "listen");
	struct sockaddr_conn peer = { .sconn_family = AF_CONN, .sconn_port = htons(2), .sconn_addr = &ends[0] };
	check(usrsctp_connect(client, (struct sockaddr *)&peer, sizeof peer), "connect");
	struct socket *server = usrsctp_accept(listener, NULL, NULL);
	check(!server, "accept");
	double start = cpu();
	pthread_create(&thread, NULL, sender, NULL);
	char *buffer = malloc(1 << 20);
	for (size_t received = 0; received < total;) {
		struct sctp_rcvinfo info;
		socklen_t from = 0, length = sizeof info;
		unsigned type;
		int flags = 0;
		ssize_t n = usrsctp_recvv(server, buffer, 1 << 20, NULL, &from, &info, &length, &type, &flags);
		check(n <= 0, "receive");
		received += n;
	}
	printf("%.6f\n", cpu() - start);
	fflush(stdout);
	_exit(0);
}
