import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { linesOf } from '../../lib/storage/archive/lines.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print } from '../output.ts'
import { createMeter } from '../progress.ts'
import { assertPipedIn, STANDARD } from '../standard-streams.ts'
import { migrateEmpty, withStorage } from '../with-chat.ts'

/** The bytes of an archive, and their number if it is known. */
interface Source {
  bytes: AsyncIterable<Uint8Array>
  size?: number
}

/** Fills the database from an archive, and prints how many rows there were. */
async function fill(storage: Storage, { bytes, size }: Source, flags: { json?: boolean | undefined }): Promise<void> {
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
  const imported = storage.import(linesOf(counted()), meter.add)
  const counts = await imported.finally(meter.end)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  print(flags, { counts }, `Imported ${rows} rows. "chat-server fsck" checks the result.`)
}

async function openFile(path: string): Promise<Source> {
  const found = await stat(path)
  if (found.isDirectory()) throw new Error(`${path} is a folder, not an archive`)
  return { bytes: createReadStream(path), size: found.size }
}

export default defineCommand({
  meta: { name: 'import', description: 'Fill an empty database from an archive' },
  example: 'chat-server import ./chat.jsonl --database postgres://chat@localhost/chat',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The archive; - for standard input' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (args.file === STANDARD) assertPipedIn()
    // Checked before a database is created.
    const source = args.file === STANDARD ? { bytes: process.stdin } : await openFile(args.file)
    await withStorage(args, (storage) => fill(storage, source, args), { create: true })
  },
})
