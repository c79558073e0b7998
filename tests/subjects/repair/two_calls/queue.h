#pragma once
void queue_push(int value);
int queue_length(void);
int queue_total(void);
void queue_empty(void);
void queue_forget_total(void);
