import { countDisabled } from '../lib/integrations/webhooks/store.ts'
import type { CopyOptions } from '../lib/storage/archive/copied.ts'
import { splitLines } from '../lib/storage/archive/lines.ts'
import { countCopied } from '../lib/storage/copied-answers.ts'
import type { Queries } from '../lib/storage/database.ts'
import type { Storage } from '../lib/storage/open.ts'
import { assertMigrated } from '../lib/storage/schema/migrate.ts'
import { createMeter } from './progress.ts'
import { migrateEmpty } from './with-chat.ts'

/** The bytes of an archive, and their number if it is known. */
export interface ArchiveSource {
  bytes: AsyncIterable<Uint8Array>
  size?: number
}

/** Fills an empty database from an archive, and shows the progress. @returns the numbers of rows by table */
export async function fill(
  storage: Storage,
  { bytes, size }: ArchiveSource,
  options: CopyOptions = {},
): Promise<Record<string, number>> {
  await migrateEmpty(storage)
  await assertMigrated(storage.db)
  let read = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      read += chunk.length
      yield chunk
    }
  }
  const inMib = (count: number) => Math.round(count / 2 ** 20)
  const meter = createMeter(() => ({ done: inMib(read), total: size && inMib(size), unit: 'MiB' }))
  return storage.import(splitLines(counted()), meter.add, options).finally(meter.end)
}

/** The number of webhooks that are disabled since the database was filled. */
export async function countRestored(db: Queries): Promise<number> {
  return (await countDisabled(db)).find(({ disabled_reason }) => disabled_reason === 'restored')?.count ?? 0
}

/** What a command says of them. */
export const disabledText = (count: number): string =>
  `Disabled ${count} webhooks: their owners enable them when the original calls none any more.`

/** The number of answers that a copy does not go on with: the next start ends them. */
export const countInterrupted = countCopied

/** What a command says of them. */
export const interruptedText = (count: number): string =>
  `Interrupted ${count} answers of the assistant: the original goes on with them, and no tool runs twice.`
