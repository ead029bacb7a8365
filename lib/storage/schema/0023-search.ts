import { FIRST_DOC } from '../sql.ts'
import type { Migration } from './migrations.ts'

/**
 * The index of the search. On SQLite the index itself, a table of FTS5, is made at the start of a service: not every
 * build of SQLite has FTS5.
 */
export const search: Migration = {
  name: '0023-search',
  statements: ({ key, lean }, dialect) => [
    // By which the index names a message: it rises with arrival. Older messages get theirs later, downwards from 2^40.
    'ALTER TABLE messages ADD COLUMN doc BIGINT',
    'CREATE UNIQUE INDEX messages_by_doc ON messages (doc) WHERE doc IS NOT NULL',
    // What the index does not know yet. `version` rises with each change of the message.
    `CREATE TABLE search_changes (
      doc BIGINT PRIMARY KEY,
      message_id ${key} NOT NULL,
      version BIGINT NOT NULL)${lean}`,
    ...(dialect === 'postgresql'
      ? [
          `CREATE SEQUENCE search_docs_from START WITH ${FIRST_DOC} OWNED BY messages.doc`,
          "ALTER TABLE messages ALTER COLUMN doc SET DEFAULT nextval('search_docs_from')",
          'CREATE TABLE search_docs (doc BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)',
          'CREATE INDEX search_by_word ON search_docs USING gin (words) WITH (fastupdate = off)',
        ]
      : []),
  ],
}
