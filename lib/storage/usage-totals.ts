import { sql } from './sql.ts'

/** The end of a statement that inserts sums of usage: those of the same period and key become one. */
export const ADD_TO_TOTAL = sql`ON CONFLICT (dimension, unit, starts_at, key) DO UPDATE SET
       answers = usage_totals.answers + excluded.answers,
       prompt_tokens = usage_totals.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = usage_totals.completion_tokens + excluded.completion_tokens,
       cached_tokens = usage_totals.cached_tokens + excluded.cached_tokens,
       cost_micros = usage_totals.cost_micros + excluded.cost_micros`
