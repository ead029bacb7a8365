import { closeSync, writeSync } from 'node:fs'
import { commonArgs, defineCommand } from '../command.ts'
import { openNewFile } from '../files.ts'
import { oneLine, print } from '../output.ts'
import { showProgress } from '../progress.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: {
    name: 'export',
    description: 'Write all there is to an archive that SQLite and PostgreSQL can be filled from',
  },
  example: 'chat-server export ./chat.jsonl',
  args: {
    file: { type: 'positional', required: true, description: 'Where to write it, as lines of JSON' },
    force: { type: 'boolean', description: 'Replace the file if it is there' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      const file = openNewFile(args.file, { force: args.force === true })
      try {
        const counts = await storage.export((lines) => writeSync(file, lines), showProgress)
        const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
        print(args, { file: args.file, counts }, oneLine(`Written to ${args.file}, ${rows} rows.`))
      } finally {
        closeSync(file)
      }
    }),
})
