#include "process/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/vec.h"

void capture_init(struct capture *capture, size_t keep)
{
	*capture = (struct capture){ .keep = keep };
}

void capture_free(struct capture *capture)
{
	free(capture->head);
	free(capture->tail);
	capture_init(capture, capture->keep);
}

static struct err *capture_add_tail(struct capture *capture, const char *data,
				    size_t n)
{
	size_t keep = capture->keep;
	if (n > keep) {
		capture->dropped += n - keep;
		data += n - keep;
		n = keep;
	}
	if (capture->tail_n + n > 2 * keep) {
		/* Moving half of it each time keeps the cost per byte flat. */
		size_t left = keep - n;
		size_t gone = capture->tail_n - left;
		memmove(capture->tail, capture->tail + gone, left);
		capture->tail_n = left;
		capture->dropped += gone;
	}
	TRY(vec_grow_((void **)&capture->tail, &capture->tail_cap,
		      capture->tail_n + n, 1));
	memcpy(capture->tail + capture->tail_n, data, n);
	capture->tail_n += n;
	return NULL;
}

struct err *capture_add(struct capture *capture, const char *data, size_t n)
{
	size_t first = MIN(n, capture->keep - capture->head_n);
	if (first) {
		TRY(vec_grow_((void **)&capture->head, &capture->head_cap,
			      capture->head_n + first, 1));
		memcpy(capture->head + capture->head_n, data, first);
		capture->head_n += first;
	}
	return n > first ? capture_add_tail(capture, data + first, n - first)
			 : NULL;
}

struct err *capture_text(const struct capture *capture, char **ret,
			 size_t *ret_n, uint64_t *ret_dropped)
{
	size_t tail = MIN(capture->tail_n, capture->keep);
	char *text = malloc(capture->head_n + tail + 1);
	if (!text)
		return err_nomem();
	if (capture->head_n)
		memcpy(text, capture->head, capture->head_n);
	if (tail)
		memcpy(text + capture->head_n,
		       capture->tail + capture->tail_n - tail, tail);
	text[capture->head_n + tail] = '\0';
	*ret = text;
	*ret_n = capture->head_n + tail;
	*ret_dropped = capture->dropped + (capture->tail_n - tail);
	return NULL;
}

void capture_shorten(char *text, size_t *n, uint64_t *dropped, size_t keep)
{
	if (*n <= 2 * keep)
		return;
	memmove(text + keep, text + *n - keep, keep);
	*dropped += *n - 2 * keep;
	*n = 2 * keep;
	text[*n] = '\0';
}
