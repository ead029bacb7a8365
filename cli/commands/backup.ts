import { partialOf } from '../../lib/storage/archive/files.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { oneLine, print } from '../output.ts'
import { showGrowth } from '../progress.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'backup', description: 'Write a copy of the SQLite database to a file, while the service runs' },
  example: 'chat-server backup ./chat-backup.db',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'Target file' },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      const work = () => storage.backup(args.file, { force: args.force === true })
      const growth = { file: partialOf(args.file), bytes: await usedBytes(storage.db) }
      const bytes = await showGrowth('Copied', growth, work)
      print(args, { file: args.file, bytes }, oneLine(`Written to ${args.file}, ${bytes} bytes.`))
    }),
})

/** The used size of a SQLite file, which is the size of a copy. */
async function usedBytes(db: Queries): Promise<number> {
  if (db.dialect !== 'sqlite') return 0
  const row = await db.get<{ bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  )
  return row!.bytes
}
