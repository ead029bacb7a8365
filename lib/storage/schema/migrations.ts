import type { Dialect } from '../database.ts'
import { foundation } from './0001-foundation.ts'
import { assistant } from './0002-assistant.ts'
import { access } from './0003-access.ts'
import { retention } from './0004-retention.ts'
import { invites } from './0005-invites.ts'
import { tasks } from './0006-tasks.ts'
import { addresses } from './0007-addresses.ts'
import { confirmation } from './0008-confirmation.ts'
import { rotatedTokens } from './0009-rotated-tokens.ts'
import { participants } from './0010-participants.ts'
import { deleteReason } from './0011-delete-reason.ts'

/** One step of the schema. Once released it never changes: its checksum is kept with the data. */
export interface Migration {
  name: string
  statements: (types: ColumnTypes, dialect: Dialect) => string[]
}

interface ColumnTypes {
  /** Text compared byte by byte, for keys and for what is ordered by. */
  key: string
  /** A number the database hands out, rising. */
  serial: string
  /** Of a table of short rows: kept in the order of its primary key, with no other one beside it. */
  lean: string
  /** A number with a fraction. */
  real: string
}

/** What a column is called on each database. */
export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { key: 'TEXT', serial: 'INTEGER PRIMARY KEY AUTOINCREMENT', lean: ' WITHOUT ROWID', real: 'REAL' },
  postgresql: {
    key: 'TEXT COLLATE "C"',
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    lean: '',
    real: 'DOUBLE PRECISION',
  },
}

/** Every step of the schema, oldest first. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  assistant,
  access,
  retention,
  invites,
  tasks,
  addresses,
  confirmation,
  rotatedTokens,
  participants,
  deleteReason,
]
