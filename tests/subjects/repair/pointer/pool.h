#pragma once
struct pool;
struct pool *pool_default(void);
int pool_take(struct pool *pool);
int pool_used(const struct pool *pool);
void pool_drain(struct pool *pool);
