// Only the build knows it.
#ifndef METER_MAX
#error "METER_MAX is not defined"
#endif

#define METER_FULL (METER_MAX - 1)

int meter_read(void);
void meter_fill(void);
void meter_restart(void);
