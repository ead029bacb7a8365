import type { Migration } from './migrations.ts'

export const retention: Migration = {
  name: '0004-retention',
  statements: () => [
    // The service looks for expired rows every minute, in a transaction that other writers wait for.
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
    'CREATE INDEX sessions_by_expiry ON sessions (absolute_expires_at)',
    'CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL',
    'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
    'CREATE INDEX known_devices_by_expiry ON known_devices (expires_at)',
  ],
}
