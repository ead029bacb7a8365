import { contextOf } from '../../lib/core/context-of.ts'
import { exportUser } from '../../lib/ops/user-export/export.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { resolveUserId } from '../args/user.ts'
import { oneLine, print, printNote } from '../output.ts'
import { showProgress } from '../progress.ts'
import { untilInterrupted } from '../signals.ts'
import { withChat } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'export', description: 'Write all data of a user into a new folder, as JSON and as a page' },
  example: 'chat-server user export grace ./grace',
  args: {
    user: { type: 'positional', required: true, valueHint: 'name', description: 'Username, email address or id' },
    folder: { type: 'positional', required: true, valueHint: 'folder', description: 'A new or an empty folder' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const id = await resolveUserId(chat, args.user)
      const done = await untilInterrupted('The export', (signal) =>
        exportUser(contextOf(chat), id, args.folder, {
          signal,
          onProgress: ({ messages, files }, looked_at) =>
            showProgress(`${looked_at} messages read, ${messages} of the user, ${files} files`),
        }),
      )
      showProgress('')
      if (done.missing > 0) {
        printNote(`The bytes of ${done.missing} files are not in the storage: files.json names them.`)
        process.exitCode = 1
      }
      const text = `Exported ${done.messages} messages and ${done.files} files to ${args.folder}.`
      print(args, { user_id: id, folder: args.folder, ...done }, oneLine(text))
    }),
})
