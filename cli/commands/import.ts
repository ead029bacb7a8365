import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { commonArgs, defineCommand } from '../args/command.ts'
import { type ArchiveSource, fill } from '../fill.ts'
import { print } from '../output.ts'
import { assertPipedIn, STANDARD } from '../standard-streams.ts'
import { withStorage } from '../with-chat.ts'

async function openFile(path: string): Promise<ArchiveSource> {
  const found = await stat(path)
  if (found.isDirectory()) throw new Error(`${path} is a folder, not an archive`)
  return { bytes: createReadStream(path), size: found.size }
}

export default defineCommand({
  meta: { name: 'import', description: 'Fill an empty database from an archive' },
  example: 'chat-server import ./chat.jsonl --database postgres://chat@localhost/chat',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The archive; - for standard input' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (args.file === STANDARD) assertPipedIn()
    // Checked before a database is created.
    const source = args.file === STANDARD ? { bytes: process.stdin } : await openFile(args.file)
    await withStorage(
      args,
      async (storage) => {
        const counts = await fill(storage, source)
        const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
        print(args, { counts }, `Imported ${rows} rows. "chat-server fsck" checks the result.`)
      },
      { create: true },
    )
  },
})
