struct shelf {
	int places;
	unsigned label;
	int n;
	int items[8];
};

struct shelf *shelf_new(int places);
void shelf_free(struct shelf *shelf);
int shelf_put(struct shelf *shelf, int item);
int shelf_count(const struct shelf *shelf, int item);
