import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Storage } from '../../lib/index.ts'
import { commonArgs, defineCommand, webhooksFlag } from '../args/command.ts'
import { filesArg, filesText, loadFiles } from '../files.ts'
import { type ArchiveSource, countInterrupted, countRestored, disabledText, fill, interruptedText } from '../fill.ts'
import { oneLine, print, printNote } from '../output.ts'
import { assertPipedIn, STANDARD } from '../standard-streams.ts'
import { withStorage } from '../with-chat.ts'

async function openFile(path: string): Promise<ArchiveSource> {
  const stats = await stat(path)
  if (stats.isDirectory()) throw new Error(`${path} is a folder, not an archive`)
  return { bytes: createReadStream(path), size: stats.size }
}

export default defineCommand({
  meta: { name: 'import', description: 'Fill an empty database from an archive' },
  example: 'chat-server import ./chat.jsonl --database postgres://chat@localhost/chat',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The archive; - for standard input' },
    'enable-webhooks': webhooksFlag,
    ...filesArg,
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (args.file === STANDARD) assertPipedIn()
    // Checked before a database is created.
    const source = args.file === STANDARD ? { bytes: process.stdin } : await openFile(args.file)
    const kept = { enable_webhooks: args['enable-webhooks'] === true }
    const storing = async (storage: Storage) => {
      const counts = await fill(storage, source, kept)
      return { counts, disabled_webhooks: await countRestored(storage.db), answers: await countInterrupted(storage.db) }
    }
    const { counts, disabled_webhooks, answers } = await withStorage(args, storing, { create: true })
    const loaded = await loadFiles(args)
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const text = `Imported ${rows} rows${filesText(loaded)}. "chat-server fsck" checks the result.`
    if (!args.json && disabled_webhooks > 0) printNote(disabledText(disabled_webhooks))
    if (!args.json && answers > 0) printNote(interruptedText(answers))
    print(args, { counts, disabled_webhooks, interrupted_answers: answers, ...loaded }, oneLine(text))
  },
})
