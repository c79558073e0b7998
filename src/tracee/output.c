#include "tracee/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"

#define PIPE_SIZE (1 << 20)

struct output_stream {
	int read_end;
	int write_end;
	int copy_to; /* our own descriptor for pass-through, -1: none */
	enum output_use use;
	uint64_t skip; /* bytes still to come that were already passed in */
	struct str head;
	char *tail; /* ring of OUTPUT_KEEP bytes, once head is full */
	size_t tail_n;
	size_t tail_at;
	uint64_t dropped;
};

struct output {
	struct output_stream out;
	struct output_stream err;
};

static struct err *stream_open(struct output_stream *stream, int copy_to)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot create a pipe");
	stream->read_end = ends[0];
	stream->write_end = ends[1];
	stream->copy_to = copy_to;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	/* May be refused to ordinary users with many pipes: slower, not wrong. */
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) < 0)
		log_debug(LOG_TRACEE, "small pipe: %s", strerror(errno));
	return NULL;
}

static void output_stream_close(struct output_stream *stream)
{
	closep(&stream->read_end);
	closep(&stream->write_end);
	str_free(&stream->head);
	free(stream->tail);
}

struct err *output_create(bool pass_through, struct output **ret)
{
	_cleanup_(output_destroyp) struct output *output =
		calloc(1, sizeof(*output));
	if (!output)
		return err_nomem();
	output->out.read_end = output->out.write_end = -1;
	output->err.read_end = output->err.write_end = -1;
	TRY(stream_open(&output->out, pass_through ? STDOUT_FILENO : -1));
	TRY(stream_open(&output->err, pass_through ? STDERR_FILENO : -1));
	*ret = take_ptr(output);
	return NULL;
}

void output_destroy(struct output *output)
{
	if (!output)
		return;
	output_stream_close(&output->out);
	output_stream_close(&output->err);
	free(output);
}

void output_ends(const struct output *output, int *ret_out, int *ret_err)
{
	*ret_out = output->out.write_end;
	*ret_err = output->err.write_end;
}

/* Losing output to lack of memory is not worth failing a run for. */
static void stream_keep(struct output_stream *stream, const char *data,
			size_t n)
{
	if (stream->skip) {
		size_t known = MIN(n, stream->skip);
		stream->skip -= known;
		data += known;
		n -= known;
	}
	if (stream->head.n < OUTPUT_KEEP) {
		size_t part = MIN(n, OUTPUT_KEEP - stream->head.n);
		err_ignore(str_append_n(&stream->head, data, part));
		data += part;
		n -= part;
	}
	if (!n)
		return;
	if (!stream->tail)
		stream->tail = malloc(OUTPUT_KEEP);
	if (!stream->tail) {
		stream->dropped += n;
		return;
	}
	if (n > OUTPUT_KEEP) {
		stream->dropped += n - OUTPUT_KEEP;
		data += n - OUTPUT_KEEP;
		n = OUTPUT_KEEP;
	}
	size_t room = OUTPUT_KEEP - stream->tail_n;
	if (n > room)
		stream->dropped += n - room;
	stream->tail_n = MIN(stream->tail_n + n, OUTPUT_KEEP);
	while (n) {
		size_t part = MIN(n, OUTPUT_KEEP - stream->tail_at);
		memcpy(stream->tail + stream->tail_at, data, part);
		stream->tail_at = (stream->tail_at + part) % OUTPUT_KEEP;
		data += part;
		n -= part;
	}
}

static void stream_pass_through(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		data += done;
		n -= (size_t)done;
	}
}

/* Bounded: a program that writes faster than we read must not keep us here. */
static bool stream_drain(struct output_stream *stream)
{
	static char chunk[64 << 10];
	size_t total = 0;
	while (total < 2 * PIPE_SIZE) {
		ssize_t n = read(stream->read_end, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (stream->copy_to >= 0 && stream->use == OUTPUT_SHOWN)
			stream_pass_through(stream->copy_to, chunk, (size_t)n);
		if (stream->use != OUTPUT_IGNORED)
			stream_keep(stream, chunk, (size_t)n);
		total += (size_t)n;
		if ((size_t)n < sizeof(chunk))
			break;
	}
	return total >= PIPE_SIZE / 2;
}

bool output_drain(struct output *output)
{
	bool full = stream_drain(&output->out);
	return stream_drain(&output->err) || full;
}

static struct err *output_stream_text(const struct output_stream *stream,
				      struct str *text)
{
	TRY(str_append_n(text, stream->head.s ? stream->head.s : "",
			 stream->head.n));
	if (stream->dropped)
		TRY(str_appendf(text, "\n[... %llu bytes omitted ...]\n",
				(unsigned long long)stream->dropped));
	if (stream->tail_n < OUTPUT_KEEP)
		return str_append_n(text, stream->tail, stream->tail_n);
	TRY(str_append_n(text, stream->tail + stream->tail_at,
			 OUTPUT_KEEP - stream->tail_at));
	return str_append_n(text, stream->tail, stream->tail_at);
}

static struct err *stream_cut(struct output_stream *stream, struct str *text)
{
	if (text)
		TRY(output_stream_text(stream, text));
	stream->head.n = 0;
	stream->tail_n = stream->tail_at = 0;
	stream->dropped = 0;
	return NULL;
}

enum output_use output_set_use(struct output *output, enum output_use use)
{
	enum output_use before = output->out.use;
	output_drain(output);
	output->out.use = output->err.use = use;
	return before;
}

void output_take_over(struct output *output, const char *text, size_t pending)
{
	output_drain(output);
	if (output->out.use == OUTPUT_IGNORED)
		return;

	/* Of the pending bytes the first ones may be an earlier piece's. */
	size_t known = MIN(pending, output->out.skip);
	if (text) {
		uint64_t skip = output->out.skip;
		output->out.skip = 0;
		stream_keep(&output->out, text + known, pending - known);
		output->out.skip = skip;
	}
	output->out.skip += pending - known;
}

struct err *output_cut(struct output *output, const char *text, size_t pending,
		       struct output_piece *ret)
{
	output_take_over(output, text, pending);

	_cleanup_(str_freep) struct str piece = STR_INIT;
	bool ignored = output->out.use == OUTPUT_IGNORED;
	uint64_t dropped =
		ignored ? 0 : output->out.dropped + output->err.dropped;
	if (!ignored) {
		TRY(stream_cut(&output->out, ret ? &piece : NULL));
		TRY(stream_cut(&output->err, ret ? &piece : NULL));
	}
	if (ret) {
		ret->n = piece.n;
		ret->dropped = dropped;
		ret->text = str_take(&piece);
		if (!ret->text)
			return err_nomem();
	}
	return NULL;
}

struct err *output_peek(struct output *output, char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(output_stream_text(&output->out, &text));
	TRY(output_stream_text(&output->err, &text));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

void output_restart(struct output *output)
{
	output_drain(output);
	if (output->out.use == OUTPUT_IGNORED)
		return;
	output->out.skip = 0;
	err_ignore(stream_cut(&output->out, NULL));
	err_ignore(stream_cut(&output->err, NULL));
}
