import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print } from '../output.ts'
import { showProgress } from '../progress.ts'
import { migrateEmpty, withStorage } from '../with-chat.ts'

/** Fills the database from an archive, and says how many rows there were. */
async function fill(storage: Storage, file: FileHandle, flags: { json?: boolean | undefined }): Promise<void> {
  await migrateEmpty(storage)
  await assertMigrated(storage.db)
  const counts = await storage.import(file.readLines({ encoding: 'utf8' }), showProgress)
  showProgress('')
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  print(flags, { counts }, `Imported ${rows} rows. "chat-server fsck" checks the result.`)
}

export default defineCommand({
  meta: { name: 'import', description: 'Fill an empty database from an archive; continues after an interruption' },
  example: 'chat-server import ./chat.jsonl --database postgres://chat@localhost/chat',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The archive' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    // Checked before a database is created.
    if ((await stat(args.file)).isDirectory()) throw new Error(`${args.file} is a folder, not an archive`)
    const file = await open(args.file)
    try {
      await withStorage(args, (storage) => fill(storage, file, args), { create: true })
    } finally {
      await file.close()
    }
  },
})
