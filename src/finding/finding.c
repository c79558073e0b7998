#include "finding/finding.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/str.h"

void finding_free(struct finding *finding)
{
	if (finding->evidence)
		finding->kind->free(finding->evidence);
	free(finding->id);
	free(finding->message);
	free(finding->replay);
	free(finding->hint);
	free(finding->isolation);
	free(finding->earlier);
	free(finding->record);
	*finding = (struct finding){};
}

struct err *finding_take_evidence(struct finding *finding, void *record,
				  size_t size)
{
	finding->evidence = malloc(size);
	if (!finding->evidence)
		return err_nomem();
	memcpy(finding->evidence, record, size);
	memset(record, 0, size);
	return NULL;
}

struct err *finding_isolate(struct finding *finding, const char *framework)
{
	finding->severity = FINDING_LOW;
	return str_format(&finding->isolation,
			  "only where tests share a process, and %s runs them "
			  "in processes of their own",
			  framework);
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		finding_free(&findings->data[i]);
	vec_free(findings);
}

struct err *findings_move(struct findings *to, struct findings *from)
{
	TRY(vec_append(to, from->data, from->n));
	from->n = 0;
	return NULL;
}

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[] = { "low", "medium", "high" };
	return names[severity];
}

static XXH64_hash_t hash_text(const char *text, XXH64_hash_t seed)
{
	return XXH64(text, strlen(text) + 1, seed);
}

struct err *finding_id(const struct finding_kind *kind, unsigned variant,
		       const char *test, const char *subject, char **ret)
{
	XXH64_hash_t hash = hash_text(test, hash_text(kind->name, variant));
	if (subject)
		hash = hash_text(subject, hash);
	_cleanup_(str_freep) struct str id = STR_INIT;
	TRY(str_appendf(&id, "%s-%012llx", kind->prefix,
			(unsigned long long)(hash & 0xffffffffffffULL)));
	*ret = str_take(&id);
	return NULL;
}

struct err *finding_replay(const char *id, char **ret)
{
	_cleanup_(str_freep) struct str command = STR_INIT;
	TRY(str_appendf(&command, "polygraph replay %s", id));
	*ret = str_take(&command);
	return NULL;
}

void finding_failure_free(struct finding_failure *failure)
{
	free(failure->message);
	free(failure->file);
	*failure = (struct finding_failure){};
}
