import type { Migration } from './migrations.ts'

/** Finds the direct conversations that a system actor has opened, when it is erased. */
export const systemDirect: Migration = {
  name: '0034-system-direct',
  statements: () => [
    'CREATE INDEX conversations_system_direct ON conversations (system_id) WHERE pair_key IS NOT NULL AND system_id IS NOT NULL',
  ],
}
