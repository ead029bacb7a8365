import { toDigestLine } from '../../lib/backups/digest.ts'
import { isEncrypting, type Keys } from '../../lib/backups/packing.ts'
import { copySqlite } from '../../lib/backups/sqlite-copy.ts'
import { streamBackup, writeBackup } from '../../lib/backups/write.ts'
import type { Database } from '../../lib/storage/database.ts'
import { readDatabaseSize } from '../../lib/storage/vacuum.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
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
    plain: { type: 'boolean', description: 'Do not encrypt, although backup.passphrase or backup.recipient is set' },
    ...filesArg,
    ...commonArgs,
  },
  subCommands: { run, list, verify },
  run: ({ args }) => {
    const toOutput = args.file === STANDARD
    if (toOutput) assertOnlyData(args)
    if (toOutput && process.stdout.isTTY)
      throw new UsageError('"-" writes a database to standard output, which is a terminal: redirect it')
    const keys = args.plain ? {} : loadConfig(args).config.backup
    return withStorage(args, async ({ db }) => {
      if (args.files !== undefined && isEncrypting(keys)) printNote(`The files in ${args.files} are not encrypted.`)
      if (toOutput) {
        await writeToOutput(db, keys)
        await saveFiles(args, db)
        return
      }
      const { bytes, sha256 } = await untilInterrupted('The backup', (signal) =>
        writeBackup(db, args.file, { force: args.force === true, keys, copy: copier(db, signal), signal }),
      )
      // After the database: whatever the copy names is still there.
      const saved = await saveFiles(args, db)
      const encrypted = isEncrypting(keys)
      const text = `Written to ${args.file}, ${bytes} bytes${encrypted ? ', encrypted' : ''}${filesText(saved)}.`
      print(args, { file: args.file, bytes, sha256, encrypted, ...saved }, oneLine(text))
    })
  },
})

async function writeToOutput(db: Database, keys: Keys): Promise<void> {
  const { bytes, size, sha256 } = await untilInterrupted('The backup', async (signal) => {
    const backup = await streamBackup(db, { keys, copy: copier(db, signal) })
    signal.throwIfAborted()
    return backup
  })
  // From here on a signal ends the process at once: it may be blocked by the reader of its output.
  for await (const chunk of bytes) await writeOutput(chunk)
  printNote(`Written to standard output, ${size()} bytes${isEncrypting(keys) ? ', encrypted' : ''}. SHA-256:`)
  // As a line of its own, which `sha256sum -c` reads.
  process.stderr.write(toDigestLine('-', sha256()))
}

/** Copies the database into an empty file, and shows how it grows. */
function copier(db: Database, signal: AbortSignal): (path: string) => Promise<void> {
  return async (path) => {
    // The size of a copy.
    const { used_bytes: bytes } = await readDatabaseSize(db)
    await showGrowth('Copied', { file: path, bytes }, () => copySqlite(db, path, signal))
  }
}
