import { OPERATOR } from '../../lib/core/actor.ts'
import { ChatError } from '../../lib/core/errors.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { print } from '../output.ts'
import { createMeter } from '../progress.ts'
import { type ListedUser, type ListProblem, readUserList } from '../user-list.ts'
import { withChat } from '../with-chat.ts'

/** Users created at a time: they share a commit. */
const CONCURRENCY = 64

/** The maximum number of problems that are printed. */
const MAX_PROBLEMS = 100

export default defineCommand({
  meta: { name: 'import', description: 'Create the users of a CSV file; those that exist are skipped' },
  example: 'chat-server user import users.csv --dry-run',
  args: {
    file: {
      type: 'positional',
      required: true,
      valueHint: 'file',
      description: 'CSV with the columns email, and optionally username, display_name, roles',
    },
    'dry-run': { type: 'boolean', description: 'Check the file and say what would be created, without creating it' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    // Checked whole, before the first user is created.
    const own = Object.keys(loadConfig(args).config.access.roles).filter((role) => role !== 'guest')
    const { users, problems } = await readUserList(args.file, own)
    refuse(problems)
    await withChat(args, async (chat) => {
      const missing = await withoutExisting(chat, users)
      const isDry = args['dry-run'] ?? false
      const created = isDry ? [] : await createAll(chat, missing)
      const existing = users.length - missing.length
      const counts = isDry ? { would_create: missing.length, existing } : { created: created.length, existing }
      const inWords = (count: number) => (count === 1 ? '1 user' : `${count} users`)
      const done = isDry ? `${inWords(missing.length)} would be created` : `${inWords(created.length)} created`
      print(args, counts, `${done}, ${existing} exist already.${missing.length > 0 ? HINT : ''}`)
    })
  },
})

const HINT = `
They have no password: they sign in through a provider, or set a password with the link that "forgot password" mails to
them, or that "chat-server user reset-link" prints.`

/** @throws ChatError `validation_failed` with the first problems */
function refuse(problems: ListProblem[]): void {
  if (problems.length === 0) return
  const shown = problems.toSorted((a, b) => a.line - b.line).slice(0, MAX_PROBLEMS)
  const more = problems.length > MAX_PROBLEMS ? `, of which ${MAX_PROBLEMS} are shown` : ''
  throw new ChatError('validation_failed', {
    message: `no user was created: the file has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}${more}`,
    errors: shown.map(({ line, message }) => ({ path: `line ${line}`, message })),
  })
}

/**
 * The users whose address no account has.
 *
 * @throws ChatError `validation_failed` when another account has the username of one
 */
async function withoutExisting(chat: Chat, users: ListedUser[]): Promise<ListedUser[]> {
  const missing: ListedUser[] = []
  const problems: ListProblem[] = []
  const meter = createMeter((rows) => ({ done: rows, total: users.length, unit: 'users' }))
  for (const [index, user] of users.entries()) {
    meter.add('checked', index)
    if (await exists(chat, user.input.email)) continue
    missing.push(user)
    if (await exists(chat, user.input.username))
      problems.push({ line: user.line, message: `another user is called ${user.input.username}` })
  }
  meter.end()
  refuse(problems)
  return missing
}

async function exists(chat: Chat, name: string): Promise<boolean> {
  try {
    await chat.users.find(OPERATOR, name)
    return true
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return false
    if (error instanceof ChatError && error.code === 'conflict') return true
    throw error
  }
}

/** @throws ChatError of the first user that could not be created; a repetition continues after the others */
async function createAll(chat: Chat, users: ListedUser[]): Promise<ListedUser[]> {
  const meter = createMeter((rows) => ({ done: rows, total: users.length, unit: 'users' }))
  for (let from = 0; from < users.length; from += CONCURRENCY) {
    const batch = users.slice(from, from + CONCURRENCY)
    const outcomes = await Promise.allSettled(batch.map(({ input }) => chat.users.create(OPERATOR, input)))
    const failed = outcomes.findIndex(({ status }) => status === 'rejected')
    if (failed >= 0) {
      meter.end()
      const { reason } = outcomes[failed] as PromiseRejectedResult
      if (!(reason instanceof ChatError) || reason.status >= 500) throw reason
      throw new ChatError(reason.code, {
        message: `line ${batch[failed]!.line}: ${reason.message} Users before it were created: run it again after the correction.`,
      })
    }
    meter.add('created', from + batch.length)
  }
  meter.end()
  return users
}
