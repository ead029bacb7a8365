import type { Migration } from './migrations.ts'

/**
 * SQLite: up to which event retention has deleted the log. Until now this was seen in the first one that is left, which a
 * deleted conversation has changed as well.
 */
export const lastDeletedId: Migration = {
  name: '0089-last-deleted-id',
  statements: (_types, dialect) =>
    dialect === 'sqlite'
      ? [
          `INSERT INTO meta (name, value)
           SELECT 'last_deleted_id', coalesce((SELECT min(id) - 1 FROM events),
                                              (SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)
            WHERE true ON CONFLICT (name) DO NOTHING`,
        ]
      : [],
}
