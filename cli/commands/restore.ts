import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { oneLine, print, printNote } from '../output.ts'

export default defineCommand({
  meta: { name: 'restore', description: 'Replace the SQLite database by a backup; no service may run' },
  example: 'chat-server restore ./chat-backup.db --database sqlite:./data/restored.db',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'The backup' },
    force: { type: 'boolean', description: 'Replace an existing database' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { config, warnings } = loadConfig(args)
    warnings.forEach(printNote)
    const { restoreStorage } = await import('../../lib/index.ts')
    await restoreStorage(config.database.url, args.file, { force: args.force === true })
    print(args, { restored: args.file }, oneLine(`Restored from ${args.file}. Every client will read the state again.`))
  },
})
