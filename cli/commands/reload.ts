import { type NodeReload, requestReload } from '../../lib/cluster/reload-requests.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { parseNumber } from '../args/number.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

/** A node without a connection to the database looks as if it did not run. */
const NONE =
  'No service runs on this database, or none is connected to it. Send SIGHUP to each process that runs ("systemctl reload chat-server")'

const HEADINGS = ['NODE', 'HOST', 'RESULT', 'CHANGED', 'NEEDS A RESTART']

export default defineCommand({
  meta: { name: 'reload', description: 'Have all running processes read their configuration again' },
  example: 'chat-server reload',
  args: {
    timeout: { type: 'string', default: '10', description: 'Seconds to wait for all results' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const seconds = parseNumber('timeout', args.timeout)
      if (!(seconds >= 1 && seconds <= 600)) throw new UsageError('--timeout must be from 1 to 600')
      const { nodes } = await chat.nodes.list(OPERATOR)
      if (nodes.length === 0) throw new Error(NONE)
      const ids = nodes.map(({ id }) => id)
      const answers = await requestReload(contextOf(chat).cluster.db, ids, { timeout_ms: seconds * 1000 })
      const results = nodes.map(({ id, host = '-' }) => ({ host, ...(answers.get(id) ?? silent(id, seconds)) }))
      print(args, { nodes: results }, table(HEADINGS, results.map(rowOf)))
      if (results.some(({ reloaded }) => !reloaded)) process.exitCode = 1
    }),
})

function silent(node: string, seconds: number): NodeReload {
  return { node, reloaded: false, reasons: [`no answer within ${seconds} seconds`] }
}

function rowOf(result: NodeReload & { host: string }): string[] {
  if (!result.reloaded) return [result.node, result.host, `refused: ${result.reasons.join('; ')}`, '', '']
  const listed = (keys: string[]) => keys.join(', ') || '-'
  return [result.node, result.host, 'reloaded', listed(result.changed), listed(result.needs_restart)]
}
