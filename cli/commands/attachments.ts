import { defineCommand as defineGroup } from 'citty'
import type { UsageKind } from '../../lib/chat/usage/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { AdoptedFiles } from '../../lib/ops/files/file-place.ts'
import type { Chat } from '../../lib/service.ts'
import { acceptClockArg, assertClock } from '../args/clock.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { findUsernames } from '../args/user.ts'
import { describeFreed, measureInside } from '../freed.ts'
import { oneLine, print, printNote, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { readableSize } from '../sizes.ts'
import { withChat } from '../with-chat.ts'

const gc = defineCommand({
  meta: { name: 'gc', description: 'Delete bytes of files that nothing refers to, beside the running service' },
  example: 'chat-server attachments gc --dry-run',
  args: {
    'dry-run': { type: 'boolean', description: 'Only count what would be deleted' },
    ...acceptClockArg,
    now: { type: 'boolean', description: 'Also delete what is kept for attachments.grace_hours' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const dry_run = args['dry-run'] === true
      if (!dry_run) await assertClock(chat, args)
      const onProgress = (parts: number) => showProgress(`${parts} parts without a row`)
      const now = args.now === true
      const { value, inside_bytes } = await measureInside(chat, () =>
        chat.ops.collectFiles({ dry_run, now, onProgress }),
      )
      const { expired, blobs, garbage, unfinished, failed, bytes } = value
      showProgress('')
      const freed = dry_run ? undefined : { disk_bytes: bytes, inside_bytes }
      const text = `${dry_run ? 'Would delete' : 'Deleted'} ${expired} files whose time is over, the bytes of ${blobs} released ones, ${garbage} parts without a row, ${unfinished} unfinished writes.`
      const lines = [text, ...(freed ? [describeFreed(freed)] : [])]
      print(args, { dry_run, expired, blobs, garbage, unfinished, failed, freed }, lines.map(oneLine).join('\n'))
      if (failed === 0) return
      printNote(`${failed} could not be deleted: the storage of files refuses. Run it again.`)
      process.exitCode = 1
    }),
})

const FOUND: Record<AdoptedFiles['was'], string> = {
  own: 'It was the owner already.',
  shared: 'It belonged to another database, which deletes nothing there any more.',
  missing: 'Another marker, or none, was there.',
  free: 'No file was stored there.',
}

const adopt = defineCommand({
  meta: { name: 'adopt', description: 'Make this database the owner of the storage of files: it may delete there' },
  example: 'chat-server attachments adopt',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const adopted = await chat.ops.adoptFiles()
      const { place, was, recovered, missing, missing_ids } = adopted
      const text = `${place} belongs to this database. ${FOUND[was]} Running services notice it within 30 seconds.`
      print(args, adopted, oneLine(text))
      if (recovered > 0) printNote(`${recovered} files have their bytes again.`)
      if (missing === 0) return
      printNote(
        `${missing} files are missing here, such as ${missing_ids.join(', ')}: copy them from the folder or bucket that was in use since, all but its chat-server-storage.`,
      )
      process.exitCode = 1
    }),
})

const stat = defineCommand({
  meta: {
    name: 'stat',
    description: 'Show how many files there are, and what they take, also by user or conversation',
  },
  example: 'chat-server attachments stat --by user',
  args: {
    by: {
      type: 'string',
      valueHint: 'what',
      description: 'user or conversation: what each of them stores, largest first, from sums of the last hour',
    },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) => {
    const { by, limit, after } = args
    if (by === undefined && (limit ?? after) !== undefined) throw new UsageError('--limit and --after need --by')
    // Summing up is a task, which is written.
    return withChat(args, (chat) => (by === undefined ? showTotals(chat, args) : showUsage(chat, { ...args, by })), {
      readOnly: by === undefined,
    })
  },
})

async function showTotals(chat: Chat, args: { json?: boolean | undefined }): Promise<void> {
  const totals = await chat.ops.fileTotals()
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  const rows = [
    ['ready', String(totals.ready)],
    ['uploading', String(totals.uploading)],
    ['scanning', String(totals.scanning)],
    ['refused', String(totals.refused)],
    ['gone', String(totals.gone)],
    ['of no message', String(totals.unattached)],
    ['blobs', `${totals.blobs} (${mib(totals.bytes)} MiB)`],
    ['released blobs', `${totals.released} (${mib(totals.released_bytes)} MiB)`],
  ]
  print(args, totals, table(['FILES', String(totals.attachments)], rows))
}

async function showUsage(
  chat: Chat,
  args: { by: string; limit?: string | undefined; after?: string | undefined; json?: boolean | undefined },
): Promise<void> {
  const by = args.by as UsageKind
  const page = await chat.usage.list(OPERATOR, { by, ...toPageInput(args) })
  const keys = page.rows.map(({ key }) => key)
  const names = by === 'user' ? await findUsernames(chat, keys) : new Map<string, string>()
  const rows = page.rows.map(({ key, files, bytes, released_bytes, message_bytes }) => [
    names.get(key) ?? key,
    String(files),
    ...[bytes, released_bytes, message_bytes].map(readableSize),
  ])
  const headings = [by.toUpperCase(), 'FILES', 'BYTES', 'RELEASED', 'MESSAGES']
  print(args, page, `${table(headings, rows)}\n\nAs of ${page.as_of}.${morePagesHint(page)}`)
}

export default defineGroup({
  meta: { name: 'attachments', description: 'Show what the files of messages take, or delete what nothing refers to' },
  subCommands: { gc, stat, adopt },
})
