import { assertOther } from '../../lib/storage/archive/backup.ts'
import { estimateRows } from '../../lib/storage/archive/export.ts'
import { replaceFile } from '../../lib/storage/archive/files.ts'
import { assertImported } from '../../lib/storage/archive/import.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { writeLines } from '../archive-file.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { filesArg, filesText, saveFiles } from '../files.ts'
import { oneLine, print, printNote } from '../output.ts'
import { createMeter } from '../progress.ts'
import { untilInterrupted } from '../signals.ts'
import { assertOnlyData, STANDARD, writeOutput } from '../standard-streams.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: {
    name: 'export',
    description: 'Write all data to an archive that can be imported into SQLite and PostgreSQL',
  },
  example: 'chat-server export ./chat.jsonl',
  args: {
    file: {
      type: 'positional',
      required: true,
      valueHint: 'file',
      description: 'Target file, as JSON lines; - for standard output',
    },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...filesArg,
    ...commonArgs,
  },
  run: ({ args }) => {
    const toOutput = args.file === STANDARD
    if (toOutput) assertOnlyData(args)
    return withStorage(args, async (storage) => {
      await assertMigrated(storage.db)
      await assertImported(storage.db)
      if (toOutput) {
        const counts = await exportWith(storage, writeOutput)
        await saveFiles(args, storage.db)
        printNote(`Written to standard output, ${sumOf(counts)} rows.`)
        return
      }
      await assertOther(storage.db, args.file)
      let counts = {}
      await untilInterrupted('The export', (signal) =>
        replaceFile(args.file, { force: args.force === true }, async (partial) => {
          counts = await writeLines(partial, signal, (write) => exportWith(storage, write))
        }),
      )
      const saved = await saveFiles(args, storage.db)
      const text = `Written to ${args.file}, ${sumOf(counts)} rows${filesText(saved)}.`
      print(args, { file: args.file, counts, ...saved }, oneLine(text))
    })
  },
})

const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0)

async function exportWith(storage: Storage, write: (lines: string) => void | Promise<void>) {
  const total = process.stderr.isTTY ? await estimateRows(storage.db) : undefined
  const meter = createMeter((done) => ({ done, total, unit: 'rows' }))
  try {
    return await storage.export(write, meter.add)
  } finally {
    meter.end()
  }
}
