import { commonArgs, defineCommand } from '../args/command.ts'
import { passwordArg, readPassword } from '../args/password.ts'
import { loadConfig } from '../config/load.ts'
import { oneLine, print, printNote } from '../output.ts'
import { waitArg, waitForDatabase } from '../wait.ts'
import { withChat } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'setup', description: 'Create the first administrator' },
  example: 'chat-server setup ada@example.org --username ada < password.txt',
  args: {
    email: { type: 'string', required: true, description: 'Email address to sign in with' },
    username: { type: 'string', description: 'Name that others see; default: the email address up to its @' },
    ...passwordArg,
    ...waitArg,
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { email, username } = args
    const password = await readPassword(args)
    await waitForDatabase(loadConfig(args).config, args, printNote)
    await withChat(
      args,
      async (chat) => {
        const done = await chat.setup.run({ email, username, password })
        print(args, done, oneLine(`Administrator ${done.user.username} <${email}> created.`))
      },
      { create: true },
    )
  },
})
