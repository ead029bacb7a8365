import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { openBackup, withBackup } from '../../lib/backups/verify.ts'
import { type ImportedConversation, importConversation } from '../../lib/chat/copies/importing.ts'
import type { Standing } from '../../lib/chat/copies/people.ts'
import { type Plan, planImport } from '../../lib/chat/copies/planning.ts'
import { type Copy, readCopy } from '../../lib/chat/copies/reading.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { type FileStore, openFileStore } from '../../lib/files/file-store.ts'
import type { Chat } from '../../lib/service.ts'
import { exportConversation } from '../../lib/storage/archive/conversation-export.ts'
import { replaceFile } from '../../lib/storage/archive/files.ts'
import { splitLines } from '../../lib/storage/archive/lines.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { writeLines } from '../archive-file.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { confirm, yesArg } from '../args/confirm.ts'
import { resolveUserId } from '../args/user.ts'
import { findBackup, identityArg, readKeys } from '../backups.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { filesArg, filesText, saveSomeFiles } from '../files.ts'
import { oneLine, print, printNote, table } from '../output.ts'
import { createMeter } from '../progress.ts'
import { untilInterrupted } from '../signals.ts'
import { withChat, withStorage } from '../with-chat.ts'

const ID_ARG = { type: 'positional', required: true, description: 'Id from `conversation list`' } as const

export const exportConversationCommand = defineCommand({
  meta: { name: 'export', description: 'Write one conversation to a file that "conversation import" reads' },
  example: 'chat-server conversation export 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 ./engines.jsonl',
  args: {
    id: ID_ARG,
    file: { type: 'positional', required: true, valueHint: 'file', description: 'Target file, as JSON lines' },
    'from-backup': {
      type: 'string',
      valueHint: 'backup',
      description: 'Take it from a backup: a file, or a name that "backup list" prints',
    },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...filesArg,
    ...identityArg,
    ...commonArgs,
  },
  run: ({ args }) =>
    untilInterrupted('The export', (signal) =>
      withSource(args, signal, async (storage, beside) => {
        let blob_ids: string[] = []
        let counts = {}
        await replaceFile(args.file, { force: args.force === true }, async (partial) => {
          const exported = await writeLines(partial, signal, async (write) => {
            const meter = createMeter((done) => ({ done, unit: 'rows' }))
            return exportConversation(storage.db, args.id, write, meter.add).finally(meter.end)
          })
          if (!exported) throw new Error(`There is no conversation "${args.id}"${placeOf(args)}`)
          ;({ counts, blob_ids } = exported)
        })
        const saved = await saveSomeFiles(args, storage.db, blob_ids, beside)
        if (blob_ids.length > 0 && args.files === undefined)
          printNote(`The bytes of its files are not in ${args.file}: --files <folder> copies them.`)
        const rows = Object.values(counts).reduce<number>((sum, count) => sum + Number(count), 0)
        print(
          args,
          { file: args.file, counts, ...saved },
          oneLine(`Written to ${args.file}, ${rows} rows${filesText(saved)}.`),
        )
      }),
    ),
})

type SourceFlags = ConfigFlags & { 'from-backup'?: string | undefined; identity?: string | undefined }

const placeOf = (args: SourceFlags) => (args['from-backup'] === undefined ? '' : ` in ${args['from-backup']}`)

/** The database of the service, or that of a backup, with the place of the files beside it. */
async function withSource<T>(
  args: SourceFlags,
  signal: AbortSignal,
  use: (storage: Storage, beside?: FileStore) => Promise<T>,
): Promise<T> {
  const name = args['from-backup']
  if (name === undefined)
    return withStorage(args, async (storage) => {
      await assertMigrated(storage.db)
      return use(storage)
    })
  const { config, warnings } = loadConfig(args)
  warnings.forEach(printNote)
  const { bytes, openFiles } = await findBackup(name, config, signal)
  const keys = readKeys(config, args.identity)
  const backup = await openBackup(bytes, keys)
  const { prefix } = config.database
  return withBackup(backup, { prefix, signal }, async (storage) => use(storage, await openFiles?.(keys)))
}

/** How long an import waits for the end of a removal of the same conversation. */
const WAIT_TIMEOUT_MS = 60_000

export const importConversationCommand = defineCommand({
  meta: { name: 'import', description: 'Bring a conversation back that "conversation export" has written' },
  example: 'chat-server conversation import ./engines.jsonl --yes',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The archive of the conversation' },
    owner: {
      type: 'string',
      valueHint: 'name',
      description: 'Becomes an owner; required if no owner of the archive has an account. Username, address or id',
    },
    ...filesArg,
    ...yesArg,
    ...commonArgs,
  },
  run: ({ args }) =>
    untilInterrupted('The import', async (signal) => {
      if ((await stat(args.file)).isDirectory()) throw new Error(`${args.file} is a folder, not an archive`)
      const lines = () => splitLines(createReadStream(args.file, { signal }))
      const copy = await readCopy(lines())
      await withChat(args, async (chat) => {
        const plan = await planImport(contextOf(chat), copy, { wait_ms: WAIT_TIMEOUT_MS, signal })
        if (plan.is_there) {
          print(
            args,
            { conversation_id: copy.id, imported: false },
            'The conversation is there already: nothing has changed.',
          )
          return
        }
        const owner_id = await ownerOf(chat, args.owner, plan)
        if (!args.json) printNotes(copy, plan.people)
        if (!args.yes) await confirm('Bring it back like this? Type yes: ', 'yes')
        const meter = createMeter((done) => ({ done, unit: 'rows' }))
        const files = args.files === undefined ? undefined : openFileStore(`fs:${args.files}`)
        const options = { people: plan.people, owner_id, files, onProgress: meter.add, signal }
        const done = await importConversation(contextOf(chat), copy, lines, options).finally(meter.end)
        report(args, copy, plan.people, done)
      })
    }),
})

/** @throws UsageError when an owner is needed */
async function ownerOf(chat: Chat, name: string | undefined, plan: Plan): Promise<string | undefined> {
  if (name !== undefined) return resolveUserId(chat, name)
  if (plan.needs_owner)
    throw new UsageError('no owner of the conversation has an account here: name another one with --owner <user>')
  return undefined
}

const HOW = {
  id: 'the same user',
  subject: 'by the id of the host',
  email: 'by the verified address',
  placeholder: 'a new account without a sign-in',
  erased: 'erased: no author',
}

function printNotes({ conversation, counts }: Copy, people: readonly Standing[]): void {
  printNote(
    `${conversation.title || '(no title)'}: ${counts.messages ?? 0} messages in ${counts.threads ?? 0} threads.`,
  )
  const rows = people.map(({ copied, user, by }) => [copied.username, user?.username ?? '', HOW[by]])
  if (rows.length > 0) process.stderr.write(`${table(['IN THE ARCHIVE', 'HERE', 'FOUND'], rows)}\n`)
}

function report(
  args: { json?: boolean | undefined },
  { id, counts }: Copy,
  people: readonly Standing[],
  { ref_taken, ...files }: ImportedConversation,
): void {
  if (ref_taken !== undefined) printNote(`Another conversation has its ref, ${ref_taken}, by now: it has none.`)
  if (files.missing > 0) printNote(`${files.missing} files are gone: --files <folder> has to have their bytes.`)
  const value = {
    conversation_id: id,
    imported: true,
    counts,
    ...files,
    ...(ref_taken !== undefined && { ref_taken }),
    people: people.map(({ copied, user, by }) => ({
      id: copied.id,
      username: copied.username,
      by,
      ...(user && { user_id: user.id, user: user.username }),
    })),
  }
  print(args, value, `The conversation is back, with ${counts.messages ?? 0} messages and ${files.files} files.`)
}
