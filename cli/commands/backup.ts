import { copySqlite } from '../../lib/backups/sqlite-copy.ts'
import { assertBackUpable, assertOther } from '../../lib/storage/archive/backup.ts'
import { fileOf, openCopy } from '../../lib/storage/archive/copy.ts'
import { type Overwriting, replaceFile } from '../../lib/storage/archive/files.ts'
import type { Database, Queries } from '../../lib/storage/database.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { filesArg, filesText, saveFiles } from '../files.ts'
import { oneLine, print, printNote } from '../output.ts'
import { showGrowth } from '../progress.ts'
import { untilInterrupted } from '../signals.ts'
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
      const bytes = await copyToFile(storage, args.file, { force: args.force === true })
      // After the database: whatever the copy names is still there.
      const saved = await saveFiles(args, storage.db)
      const text = `Written to ${args.file}, ${bytes} bytes${filesText(saved)}.`
      print(args, { file: args.file, bytes, ...saved }, oneLine(text))
    })
  },
})

async function copyToFile({ db }: Storage, file: string, options: Overwriting): Promise<number> {
  await assertOther(db, file)
  await assertBackUpable(db)
  return untilInterrupted('The backup', (signal) =>
    replaceFile(file, options, (partial) => copyTo(db, partial, signal)),
  )
}

async function copyToOutput({ db }: Storage): Promise<void> {
  await assertBackUpable(db)
  const file = await fileOf(db)
  const { bytes, size } = await untilInterrupted('The backup', async (signal) => {
    const copy = await openCopy(file, (path) => copyTo(db, path, signal))
    signal.throwIfAborted()
    return copy
  })
  // From here on a signal ends the process at once: it may be blocked by the reader of its output.
  for await (const chunk of bytes) await writeOutput(chunk)
  printNote(`Written to standard output, ${size} bytes.`)
}

/** Copies the database into an empty file, and shows how it grows. */
async function copyTo(db: Database, path: string, signal: AbortSignal): Promise<void> {
  const [file, bytes] = [await fileOf(db), await usedBytes(db)]
  await showGrowth('Copied', { file: path, bytes }, () => copySqlite(file, path, signal))
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
