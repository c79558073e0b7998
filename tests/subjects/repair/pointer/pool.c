#include "pool.h"

struct pool {
	int used;
	int peak;
};

static struct pool pool = { 0, 0 };

struct pool *pool_default(void)
{
	return &pool;
}

int pool_take(struct pool *p)
{
	if (++p->used > p->peak)
		p->peak = p->used;
	return p->used;
}

int pool_used(const struct pool *p)
{
	return p->used;
}

void pool_drain(struct pool *p)
{
	p->used = 0;
	p->peak = 0;
}
