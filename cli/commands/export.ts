import { closeSync, openSync, writeSync } from 'node:fs'
import { assertOther } from '../../lib/storage/archive/backup.ts'
import { replaceFile } from '../../lib/storage/archive/files.ts'
import { assertImported } from '../../lib/storage/archive/import.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { oneLine, print } from '../output.ts'
import { showProgress } from '../progress.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: {
    name: 'export',
    description: 'Write all data to an archive that can be imported into SQLite and PostgreSQL',
  },
  example: 'chat-server export ./chat.jsonl',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'Target file, as JSON lines' },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      await assertMigrated(storage.db)
      await assertImported(storage.db)
      await assertOther(storage.db, args.file)
      let counts = {}
      await replaceFile(args.file, { force: args.force === true }, async (partial) => {
        counts = await writeArchive(storage, partial)
      })
      showProgress('')
      const rows = Object.values<number>(counts).reduce((sum, count) => sum + count, 0)
      print(args, { file: args.file, counts }, oneLine(`Written to ${args.file}, ${rows} rows.`))
    }),
})

async function writeArchive(storage: Storage, path: string) {
  const file = openSync(path, 'w')
  try {
    return await storage.export((lines) => writeAll(file, lines), showProgress)
  } finally {
    closeSync(file)
  }
}

/** On a nearly full disk, one write may write less than requested. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}
