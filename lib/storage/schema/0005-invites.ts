import type { Migration } from './migrations.ts'

export const invites: Migration = {
  name: '0005-invites',
  statements: () => ['CREATE INDEX invites_by_expiry ON invites (expires_at)'],
}
