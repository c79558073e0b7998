#include "finding/repair_patch.h"

#include <stdlib.h>

void repair_patch_free(struct repair_patch *patch)
{
	free(patch->finding);
	free(patch->patch);
	free(patch->folder);
	free(patch->function);
	free(patch->path);
	free(patch->content);
	*patch = (struct repair_patch){};
}

static void repair_patch_destroy(void *evidence)
{
	repair_patch_free(evidence);
	free(evidence);
}

const struct finding_kind repair_patch_kind = {
	.name = "repair",
	.prefix = "repair",
	.command = "repair",
	.free = repair_patch_destroy,
};
