import { ReceiveError } from './receive-error.ts'

// Ids rise within the history of a service, so the primary key grows at its end.
const TABLES = {
  // By bytes: the order of a language is slower, and differs between systems. BRIN is enough to find what is old.
  postgres: `CREATE TABLE IF NOT EXISTS chat_received (
  source text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source, id)
);
CREATE INDEX IF NOT EXISTS chat_received_at ON chat_received USING brin (at);
CREATE TABLE IF NOT EXISTS chat_receive_positions (
  source text COLLATE "C" PRIMARY KEY,
  pulled text,
  pushed text
);
`,
  // Without an index of times, which each id would have to be written into: what is old is found in passing.
  sqlite: `CREATE TABLE IF NOT EXISTS chat_received (
  source text NOT NULL,
  id text NOT NULL,
  at integer NOT NULL DEFAULT (unixepoch()),
  PRIMARY KEY (source, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chat_receive_positions (
  source text PRIMARY KEY,
  pulled text,
  pushed text
) WITHOUT ROWID;
`,
}

/** The SQL that creates the tables of a receiver, for migrations of your own; it may run again. */
export function receiveSchema(dialect: 'postgres' | 'sqlite'): string {
  const text = TABLES[dialect]
  if (!text) throw new ReceiveError('malformed', 'receiveSchema: the dialect is "postgres" or "sqlite"')
  return text
}
