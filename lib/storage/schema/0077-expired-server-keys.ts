import type { Migration } from './migrations.ts'

/** Retention finds expired server keys by it. */
export const expiredServerKeys: Migration = {
  name: '0077-expired-server-keys',
  statements: () => ['CREATE INDEX server_keys_by_expiry ON server_keys (expires_at) WHERE expires_at IS NOT NULL'],
}
