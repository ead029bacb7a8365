import { createBackups, listBackups, openTarget } from '../../lib/backups/backups.ts'
import { type VerifiedBackup, verifyBackup } from '../../lib/backups/verify.ts'
import { filesPlace } from '../../lib/config/attachments.ts'
import { monotonicMicros } from '../../lib/core/time.ts'
import { openFileStore } from '../../lib/files/file-store.ts'
import { readCommandClock } from '../../lib/storage/clock-notes.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { areMissing, findBackup, identityArg, readKeys, structureOnly } from '../backups.ts'
import { loadConfig } from '../config/load.ts'
import { filesText } from '../files.ts'
import { createLogger } from '../logging/logger.ts'
import { oneLine, print, printNote, table } from '../output.ts'
import { untilInterrupted } from '../signals.ts'
import { withStorage } from '../with-chat.ts'

export const run = defineCommand({
  meta: { name: 'run', description: 'Make a backup in backup.target now, while the service runs' },
  example: 'chat-server backup run',
  args: commonArgs,
  run: ({ args }) =>
    withStorage(args, async ({ db }) => {
      const { config } = loadConfig(args)
      const objects = openTarget(config)
      const { now, doubt } = await readCommandClock(db)
      const began = monotonicMicros()
      const clock = { now: () => now + monotonicMicros() - began, isTrusted: () => doubt === undefined }
      const metrics = { backupFailed() {} }
      const files = async () => openFileStore(filesPlace(config))
      const backups = createBackups({ config, db, metrics, log: createLogger(config.log), ...clock, files })
      const backup = await untilInterrupted('The backup', (signal) => {
        // It leaves no copy and no lease, so the next one may begin at once.
        signal.addEventListener('abort', () => backups.stop('The backup was interrupted'))
        return backups.run()
      })
      if (backup.files_error !== undefined) process.exitCode = 1
      const text = `Written to ${objects.place} as ${backup.name}, ${backup.bytes} bytes${filesText(backup)}; deleted ${backup.deleted.length} old ones.`
      print(args, { target: objects.place, ...backup }, oneLine(text))
    }),
})

export const list = defineCommand({
  meta: { name: 'list', description: 'List the backups in backup.target, oldest first' },
  example: 'chat-server backup list',
  args: commonArgs,
  run: async ({ args }) => {
    const { config, warnings } = loadConfig(args)
    warnings.forEach(printNote)
    const objects = openTarget(config)
    const backups = (await listBackups(objects)).map(({ key, bytes }) => ({ name: key, bytes }))
    const text = table(
      ['NAME', 'BYTES'],
      backups.map(({ name, bytes }) => [name, String(bytes)]),
    )
    print(args, { target: objects.place, backups }, backups.length > 0 ? text : `There are none in ${objects.place}.`)
    if (backups.length === 0 && (await areMissing(config, objects)))
      printNote(`Backups of this database were stored in ${objects.place}: is its disk mounted?`)
  },
})

export const verify = defineCommand({
  meta: { name: 'verify', description: 'Check that a backup can be restored, whatever wrote it' },
  example: 'chat-server backup verify ./chat-backup.db',
  args: {
    file: {
      type: 'positional',
      required: true,
      valueHint: 'file',
      description: 'The backup: a file, - for standard input, or a name that "backup list" prints',
    },
    ...identityArg,
    ...commonArgs,
  },
  run: ({ args }) =>
    untilInterrupted('The check', async (signal) => {
      const { config, warnings } = loadConfig(args)
      warnings.forEach(printNote)
      const { bytes, is_compared } = await findBackup(args.file, config, signal)
      const { prefix } = config.database
      const found = await verifyBackup(bytes, readKeys(config, args.identity), { prefix, signal })
      const verified = { ...found, ...(is_compared && { checked_by: 'sha256' as const }) }
      print(args, { file: args.file, ...verified }, oneLine(describeVerified(args.file, verified)))
    }),
})

const inWords = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function describeVerified(file: string, { kind, users, conversations, messages, checked_by }: VerifiedBackup): string {
  const what = `${kind === 'sqlite' ? 'a SQLite database' : 'an export'} with ${inWords(users, 'user')}, ${inWords(conversations, 'conversation')}, ${inWords(messages, 'message')}`
  if (checked_by === 'structure')
    return `${file} can be restored: ${what}. The check covers the ${structureOnly(file)}.`
  return `${file} is whole${checked_by === 'sha256' ? ', by its SHA-256' : ''}: ${what}.`
}
