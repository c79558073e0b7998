int decoy_use(void);
