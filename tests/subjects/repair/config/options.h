struct options {
	int width, height, depth;
	double scale;
	char name[16];
};

extern struct options options;
