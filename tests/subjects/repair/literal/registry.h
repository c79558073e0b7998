#pragma once
int registry_add(const char *name);
int registry_remove(const char *name);
int registry_has(const char *name);
int registry_size(void);
