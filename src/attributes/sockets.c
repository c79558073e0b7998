/* Sockets: what they are, and where they are bound. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attributes/attributes_internal.h"

/* Numbers that the kernel chooses differ from run to run. */
static bool is_ephemeral(unsigned port)
{
	static unsigned low, high;
	if (!high) {
		low = 32768;
		high = 60999;
		FILE *file =
			fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
		unsigned first, last;
		if (file && fscanf(file, "%u %u", &first, &last) == 2 &&
		    last > first) {
			low = first;
			high = last;
		}
		if (file)
			fclose(file);
	}
	return port >= low && port <= high;
}

void socket_port_text(const char *kind, const char *address, bool six,
		      unsigned port, char *out, size_t n)
{
	char number[16] = "*";
	if (!is_ephemeral(port))
		snprintf(number, sizeof(number), "%u", port);
	snprintf(out, n, six ? "%s [%s]:%s" : "%s %s:%s", kind, address,
		 number);
}

static const char *kind_text(int family, int type, int protocol)
{
	if (family == AF_UNIX)
		return "unix";
	if (family == AF_NETLINK)
		return "netlink";
	if (family != AF_INET && family != AF_INET6)
		return "of another family";
	if (type == SOCK_RAW)
		return "raw";
	if (protocol == IPPROTO_TCP ||
	    (type == SOCK_STREAM && protocol == IPPROTO_IP))
		return "tcp";
	if (type == SOCK_DGRAM)
		return "udp";
	return "ip";
}

/* @ret_port: "tcp 127.0.0.1:80"; empty where it is not bound. */
static void address_text(const struct sockaddr_storage *storage, socklen_t n,
			 const char *kind, char *ret_port, size_t max)
{
	char address[INET6_ADDRSTRLEN] = "";
	*ret_port = '\0';
	if (storage->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)storage;
		inet_ntop(AF_INET, &in->sin_addr, address, sizeof(address));
		if (in->sin_port)
			socket_port_text(kind, address, false,
					 ntohs(in->sin_port), ret_port, max);
	} else if (storage->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)storage;
		bool mapped = IN6_IS_ADDR_V4MAPPED(&in->sin6_addr);
		inet_ntop(mapped ? AF_INET : AF_INET6,
			  in->sin6_addr.s6_addr + (mapped ? 12 : 0), address,
			  sizeof(address));
		if (in->sin6_port)
			socket_port_text(kind, address, !mapped,
					 ntohs(in->sin6_port), ret_port, max);
	} else if (storage->ss_family == AF_UNIX) {
		const struct sockaddr_un *un = (const void *)storage;
		size_t head = offsetof(struct sockaddr_un, sun_path);
		size_t length = n > head ? n - head : 0;
		if (length > sizeof(un->sun_path))
			length = sizeof(un->sun_path);
		/* Abstract names begin with a zero byte. */
		if (length && !un->sun_path[0])
			snprintf(ret_port, max, "%s @%.*s", kind,
				 (int)length - 1, un->sun_path + 1);
		else if (length)
			snprintf(ret_port, max, "%s %.*s", kind, (int)length,
				 un->sun_path);
	}
}

struct err *socket_describe(struct descriptor *d, int fd)
{
	int type = 0, protocol = 0, listening = 0, family = 0;
	socklen_t n = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n);
	n = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n);
	n = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &n);
	n = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n);
	const char *kind = kind_text(family, type, protocol);

	struct sockaddr_storage storage = {};
	char port[256] = "";
	n = sizeof(storage);
	if (getsockname(fd, (struct sockaddr *)&storage, &n) == 0)
		address_text(&storage, n, kind, port, sizeof(port));
	/* One end of a connection is not a port that others could want. */
	struct sockaddr_storage peer;
	socklen_t peer_n = sizeof(peer);
	bool connected =
		getpeername(fd, (struct sockaddr *)&peer, &peer_n) == 0;
	d->listening = listening;
	d->socket = strdup(*port ? port : kind);
	if (!d->socket)
		return err_nomem();
	if (*port && !connected) {
		d->port = strdup(port);
		if (!d->port)
			return err_nomem();
	}
	return NULL;
}
