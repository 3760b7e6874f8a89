/* Sends every message of one association back, over usrsctp in datagrams of UDP (RFC 6951). Prints the UDP port first. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <usrsctp.h>

enum { ECHO = 7, LARGEST = 1 << 20 };

/* A UDP port that nobody has: the system's choice, given back. */
static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        perror("a UDP port");
        exit(1);
    }
    close(fd);
    return ntohs(address.sin_port);
}

static struct socket *listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(ECHO),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct socket *socket = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    int buffer = 4 * LARGEST;
    if (socket == NULL ||
        usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0 ||
        usrsctp_setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) != 0 ||
        usrsctp_bind(socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        usrsctp_listen(socket, 1) != 0) {
        perror("a socket of usrsctp");
        exit(1);
    }
    return socket;
}

int main(void)
{
    static char message[LARGEST];
    uint16_t port = free_port();
    usrsctp_init(port, NULL, NULL);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    struct socket *listening = listener();
    printf("%u\n", port);
    fflush(stdout);
    struct socket *peer = usrsctp_accept(listening, NULL, NULL);
    if (peer == NULL) {
        perror("accept");
        return 1;
    }
    for (;;) {
        size_t len = 0;
        struct sctp_rcvinfo received;
        int flags = 0;
        do { /* a message may come in parts */
            struct sockaddr_in from;
            socklen_t from_len = sizeof from, info_len = sizeof received;
            unsigned int info_type = 0;
            flags = 0;
            ssize_t part = usrsctp_recvv(peer, message + len, LARGEST - len, (struct sockaddr *)&from,
                                         &from_len, &received, &info_len, &info_type, &flags);
            if (part < 0) {
                perror("recvv");
                return 1;
            }
            if (part == 0) { /* the peer has shut down */
                usrsctp_close(peer);
                usrsctp_close(listening);
                return 0;
            }
            len += (size_t)part;
        } while (!(flags & MSG_EOR));
        struct sctp_sndinfo info = {.snd_sid = 0};
        if (usrsctp_sendv(peer, message, len, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0) {
            perror("sendv");
            return 1;
        }
    }
}
