import { createReadStream } from 'node:fs'
import { assertBackUpable } from '../../lib/storage/archive/backup.ts'
import { fileOf, withCopy } from '../../lib/storage/archive/copy.ts'
import { partialOf } from '../../lib/storage/archive/files.ts'
import type { Queries } from '../../lib/storage/database.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { filesArg, filesText, saveFiles } from '../files.ts'
import { oneLine, print, printNote } from '../output.ts'
import { showGrowth } from '../progress.ts'
import { assertOnlyData, STANDARD, writeOutput } from '../standard-streams.ts'
import { withStorage } from '../with-chat.ts'
import { list, run, verify } from './backup-target.ts'

export default defineCommand({
  meta: {
    name: 'backup',
    description: 'Write a copy of the SQLite database to a file, while the service runs, or use backup.target',
  },
  example: 'chat-server backup ./chat-backup.db',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'Target file; - for standard output' },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...filesArg,
    ...commonArgs,
  },
  subCommands: { run, list, verify },
  run: ({ args }) => {
    const toOutput = args.file === STANDARD
    if (toOutput) assertOnlyData(args)
    if (toOutput && process.stdout.isTTY)
      throw new UsageError('"-" writes a database to standard output, which is a terminal: redirect it')
    return withStorage(args, async (storage) => {
      if (toOutput) {
        await copyToOutput(storage)
        await saveFiles(args, storage.db)
        return
      }
      const work = () => storage.backup(args.file, { force: args.force === true })
      const growth = { file: partialOf(args.file), bytes: await usedBytes(storage.db) }
      const bytes = await showGrowth('Copied', growth, work)
      // After the database: whatever the copy names is still there.
      const saved = await saveFiles(args, storage.db)
      const text = `Written to ${args.file}, ${bytes} bytes${filesText(saved)}.`
      print(args, { file: args.file, bytes, ...saved }, oneLine(text))
    })
  },
})

async function copyToOutput({ db }: Storage): Promise<void> {
  await assertBackUpable(db)
  const size = await usedBytes(db)
  const copy = (file: string) => showGrowth('Copied', { file, bytes: size }, () => db.run('VACUUM INTO ?', file))
  let bytes = 0
  await withCopy(await fileOf(db), copy, async (path) => {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      await writeOutput(chunk)
      bytes += chunk.length
    }
  })
  printNote(`Written to standard output, ${bytes} bytes.`)
}

/** The used size of a SQLite file, which is the size of a copy. */
async function usedBytes(db: Queries): Promise<number> {
  if (db.dialect !== 'sqlite') return 0
  const row = await db.get<{ bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  )
  return row!.bytes
}
