import { commonArgs, defineCommand } from '../command.ts'
import { oneLine, print } from '../output.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'backup', description: 'Write a copy of the SQLite database to a file, while the service runs' },
  example: 'chat-server backup ./chat-backup.db',
  args: {
    file: { type: 'positional', required: true, valueHint: 'file', description: 'Where to write it' },
    force: { type: 'boolean', description: 'Replace the file if it is there' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      const bytes = await storage.backup(args.file, { force: args.force === true })
      print(args, { file: args.file, bytes }, oneLine(`Written to ${args.file}, ${bytes} bytes.`))
    }),
})
