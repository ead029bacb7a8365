import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const HEADINGS = ['ID', 'HOST', 'PID', 'PORT', 'VERSION', 'STARTED', 'LAST REPORT', 'STREAMS']

const list = defineCommand({
  meta: { name: 'list', description: 'List the running processes that share the database' },
  example: 'chat-server nodes list',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const { nodes } = await chat.nodes.list(OPERATOR)
      const rows = nodes.map(({ id, host = '-', pid, port, ...node }) => [
        ...[id, host, String(pid ?? '-'), String(port ?? '-')],
        ...[node.version, node.started_at, node.beat_at, String(node.streams)],
      ])
      print(args, { nodes }, table(HEADINGS, rows))
    }),
})

export default defineGroup({
  meta: { name: 'nodes', description: 'List the running processes' },
  subCommands: { list },
})
