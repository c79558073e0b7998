/* Whole trees of files. */
#pragma once

/*
 * Removes @name in the folder @parent with all that is in it, as far as that is
 * possible: folders that are closed are opened, links are not followed.
 */
void file_tree_remove(int parent, const char *name);
