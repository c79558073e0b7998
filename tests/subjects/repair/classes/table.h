#pragma once
void table_create(int rows);
void table_destroy(void);
int table_rows(void);
int ticket_draw(void);
void ticket_restart(void);
int secret_bump(void);
int hidden_bump(void);
