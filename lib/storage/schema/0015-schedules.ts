import type { Migration } from './migrations.ts'

/** What a service does at certain times: one process at a time, which holds a lease. */
export const schedules: Migration = {
  name: '0015-schedules',
  statements: ({ key }) => [
    // attempted_at: the end of the last attempt, or created_at before the first one; detail: of the last success, JSON.
    `CREATE TABLE schedules (
      name ${key} PRIMARY KEY,
      owner TEXT NOT NULL, created_at BIGINT NOT NULL,
      attempted_at BIGINT NOT NULL, succeeded_at BIGINT,
      failures BIGINT NOT NULL DEFAULT 0, error TEXT, detail TEXT,
      writer TEXT, lease_expires_at BIGINT)`,
  ],
}
