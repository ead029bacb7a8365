import type { Migration } from './migrations.ts'

/** The user that an entry names beside its subject. */
const FIND_USERS = {
  sqlite: "coalesce(json_extract(detail, '$.user_id'), json_extract(detail, '$.author_id'))",
  postgresql: "coalesce(detail::json ->> 'user_id', detail::json ->> 'author_id')",
}

/** The user that an action on a key or a message concerned: the subject is the key, or the message. */
export const auditAbout: Migration = {
  name: '0043-audit-about',
  statements: ({ key }, dialect) => [
    `ALTER TABLE audit_log ADD COLUMN about_id ${key}`,
    `UPDATE audit_log SET about_id = ${FIND_USERS[dialect]} WHERE act IN ('key.revoked', 'message.deleted')`,
    'CREATE INDEX audit_log_about ON audit_log (about_id, at, id) WHERE about_id IS NOT NULL',
  ],
}
