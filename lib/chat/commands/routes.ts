import { contextOf } from '../../core/context-of.ts'
import { invoke as call } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { BotCommands, CalledCommand, CommandCall, CommandHeader, Commands } from './schema.ts'
import * as service from './service.ts'

const VERSION = { name: 'version', description: 'The version', type: 'string', required: true } as const

export const setOfBot = route({
  method: 'PUT',
  path: '/api/bots/{bot_id}/commands',
  tag: 'Users',
  summary: 'Set the commands of a bot',
  description:
    'By its owner, or by the bot itself. They replace those that it had, and may be called in the conversations in which the bot participates. At most 50, with at most 10 options of at most 25 choices. 404 unless `bots.enabled`.',
  access: 'session',
  example: { commands: [{ name: 'deploy', description: 'Deploys a version', options: [VERSION] }] },
  output: BotCommands,
  run: service.setOfBot,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/commands',
  tag: 'Threads and messages',
  summary: 'List the commands of a conversation',
  description:
    'Those of its bots, and those that the application offers everywhere, by program. Commands of two programs may have one name.',
  access: 'session',
  output: Commands,
  run: service.list,
})

export const invoke = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/commands',
  tag: 'Threads and messages',
  summary: 'Call a command',
  description:
    'For those who may post. It makes no message: its program alone gets `command.invoked`, and may name the `invocation_id` in messages and notices for 15 minutes. At most 30 in a minute.',
  access: 'session',
  headers: CommandHeader,
  body: CommandCall,
  example: { bot_id: '01890a5d-ac96-774b-bcce-b302099a8057', name: 'deploy', options: { version: '42' } },
  status: 202,
  response_headers: { 'Idempotency-Replayed': 'maybe' },
  output: CalledCommand,
  errors: service.invoke.errors,
  handler: ({ chat, actor, body, headers, params }) => {
    const idempotency_key = headers.get('idempotency-key') ?? undefined
    const input = { ...body, idempotency_key }
    return call(contextOf(chat), service.invoke, [actor, params.conversation_id], input) as Promise<CalledCommand>
  },
})
