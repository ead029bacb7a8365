import { closeSync, openSync, readSync } from 'node:fs'
import { type OpenedBackup, openBackup } from '../../lib/backups/verify.ts'
import type { Config } from '../../lib/config/parse.ts'
import type { Settled, Storage } from '../../lib/index.ts'
import { commonArgs, defineCommand, webhooksFlag } from '../args/command.ts'
import { findBackup, identityArg, readKeys, structureOnly } from '../backups.ts'
import { loadConfig } from '../config/load.ts'
import { sqliteFile } from '../doctor/files.ts'
import { filesArg, filesText, loadFiles } from '../files.ts'
import { countInterrupted, countRestored, disabledText, fill, interruptedText } from '../fill.ts'
import { oneLine, print, printNote } from '../output.ts'
import { untilInterrupted } from '../signals.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'restore', description: 'Put a backup in the place of the database; no service may run' },
  example: 'chat-server restore ./chat-backup.db --database sqlite:./data/restored.db',
  args: {
    file: {
      type: 'positional',
      required: true,
      valueHint: 'file',
      description: 'The backup: a file, - for standard input, or a name that "backup list" prints',
    },
    force: { type: 'boolean', description: 'Replace an existing database' },
    'enable-webhooks': webhooksFlag,
    ...filesArg,
    ...identityArg,
    ...commonArgs,
  },
  run: ({ args }) =>
    untilInterrupted('The restore', async (signal) => {
      const { config, warnings } = loadConfig(args)
      warnings.forEach(printNote)
      const { bytes, path, is_compared, openFiles } = await findBackup(args.file, config, signal)
      const keys = readKeys(config, args.identity)
      const backup = await openBackup(bytes, keys)
      let dropped_mails = 0
      let disabled_webhooks = 0
      let interrupted_answers = 0
      const kept = { enable_webhooks: args['enable-webhooks'] === true }
      // An export fills an empty database, of either kind, and has no mails.
      if (backup.kind === 'archive') {
        const storing = async (storage: Storage) => {
          await fill(storage, backup, kept)
          return [await countRestored(storage.db), await countInterrupted(storage.db)] as const
        }
        ;[disabled_webhooks, interrupted_answers] = await withStorage(args, storing, { create: true })
      } else {
        const options = { path, force: args.force === true, signal, ...kept }
        const settled = await restoreFile(backup, config.database, options)
        dropped_mails = settled.mails
        disabled_webhooks = settled.webhooks
        interrupted_answers = settled.answers
      }
      const loaded = await loadFiles(args, await openFiles?.(keys))
      const checked_by = is_compared ? 'sha256' : backup.checked_by
      if (checked_by === 'structure') printNote(`The check covers the ${structureOnly(args.file)}.`)
      const text = `Restored from ${args.file}${filesText(loaded)}. Every client will read the state again.`
      if (dropped_mails > 0) printNote(`Dropped ${dropped_mails} mails that waited: the original has sent them.`)
      if (!args.json && disabled_webhooks > 0) printNote(disabledText(disabled_webhooks))
      if (!args.json && interrupted_answers > 0) printNote(interruptedText(interrupted_answers))
      print(
        args,
        { restored: args.file, checked_by, dropped_mails, disabled_webhooks, interrupted_answers, ...loaded },
        oneLine(text),
      )
    }),
})

async function restoreFile(
  { bytes }: OpenedBackup,
  { url, prefix }: Config['database'],
  { path, ...options }: { path: string | undefined; force: boolean; signal: AbortSignal; enable_webhooks: boolean },
): Promise<Settled> {
  if (!sqliteFile(url))
    throw new Error(
      'This backup is a SQLite file: restore it with --database sqlite:<path>, and move it to PostgreSQL with "export" and "import"',
    )
  const { restoreStorage } = await import('../../lib/index.ts')
  // By its path if it is not packed: its WAL may be beside it.
  return restoreStorage(url, path !== undefined && isSqlite(path) ? path : bytes, { prefix, ...options })
}

function isSqlite(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(15)
    readSync(file, start)
    return start.toString('latin1') === 'SQLite format 3'
  } finally {
    closeSync(file)
  }
}
