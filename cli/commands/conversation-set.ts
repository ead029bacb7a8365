import { PolicyValue, Visibility } from '../../lib/chat/conversations/schema-settings.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { oneLine, print } from '../output.ts'
import { roomLines } from '../room-lines.ts'
import { withChat } from '../with-chat.ts'

/** The name of the system actor that changes conversations from the command line, as in the audit log. */
const ACTOR = 'operator'

/** What ends a rule, so that roles decide, and what ends that users join by themselves. */
const UNSET = 'unset'

const ACTS = ['post', 'reply', 'react', 'attach', 'pin', 'add', 'invite', 'mention_all'] as const

const who = (what: string) =>
  ({
    type: 'string',
    valueHint: 'who',
    description: `Who ${what}: ${PolicyValue.options.join(', ')} or ${UNSET}`,
  }) as const

type Change = NonNullable<Parameters<Chat['conversations']['rename']>[2]>

export const setConversationCommand = defineCommand({
  meta: {
    name: 'set',
    description: 'Change who sees a conversation, who joins it, who may do what in it, and its assistant',
  },
  example: 'chat-server conversation set 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --visibility open --join anyone',
  args: {
    id: { type: 'string', required: true, description: 'Id from `conversation list`' },
    title: { type: 'string', description: 'Its title' },
    topic: { type: 'string', description: `Its topic; ${UNSET}: none` },
    visibility: {
      type: 'string',
      valueHint: 'who',
      description: `Who sees it without participating: ${Visibility.options.join(', ')}`,
    },
    join: { type: 'string', valueHint: 'who', description: `Who joins it: invite, anyone or ${UNSET}` },
    post: who('begins threads'),
    reply: who('replies'),
    react: who('reacts'),
    attach: who('attaches files'),
    pin: who('pins messages'),
    add: who('adds people'),
    invite: who('creates invites'),
    'mention-all': who('mentions everyone'),
    freeze: { type: 'boolean', description: 'Freeze it: nothing is written in it' },
    unfreeze: { type: 'boolean', description: 'End that' },
    'auto-join': {
      type: 'string',
      valueHint: 'who',
      description: `Which users join by themselves: members, everyone or ${UNSET}`,
    },
    assistant: {
      type: 'string',
      valueHint: 'key',
      description: `The assistant that is asked where nothing names another one; ${UNSET}: the default`,
    },
    prompt: {
      type: 'string',
      valueHint: 'text',
      description: `What all assistants are told in it, which all participants read; ${UNSET}: nothing`,
    },
    assistants: {
      type: 'string',
      valueHint: 'keys',
      description: 'Which assistants may be asked: all, none, or keys with commas between them',
    },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const change = toChange(args)
    if (args.freeze && args.unfreeze) throw new UsageError('--freeze and --unfreeze exclude each other')
    if (Object.keys(change).length === 0 && args.assistant === undefined && args.prompt === undefined)
      throw new UsageError('name what to change, such as --visibility listed; --help lists it all')
    await withChat(args, async (chat) => {
      const actor = await chat.system(ACTOR)
      const assistant = await toAssistant(chat, args)
      const whole = { ...change, ...(assistant && { assistant }) }
      const changed = await named('conversation', args.id, chat.conversations.rename(actor, args.id, whole))
      const { id, title, topic, visibility, policy, frozen_at, auto_join } = changed
      const lines = [title || '(no title)', ...roomLines(changed)]
      const result = { id, title, topic, visibility, policy, assistant: changed.assistant, frozen_at, auto_join }
      print(args, result, lines.map(oneLine).join('\n'))
    })
  },
})

/** The assistant and the prompt: what the flags leave out stays, although a change of the service replaces both. */
async function toAssistant(
  chat: Chat,
  { id, assistant: key, prompt }: { id: string; assistant?: string | undefined; prompt?: string | undefined },
): Promise<Change['assistant']> {
  if (key === undefined && prompt === undefined) return undefined
  const { assistant } = await named('conversation', id, chat.conversations.describe(OPERATOR, id))
  const changed = { key: key ?? assistant?.key, prompt: prompt ?? assistant?.prompt }
  return {
    ...(changed.key !== undefined && changed.key !== UNSET && { key: changed.key }),
    ...(changed.prompt && changed.prompt !== UNSET && { prompt: changed.prompt }),
  }
}

const toAllowed = (keys: string) =>
  keys === 'all' || keys === 'none' ? keys : keys.split(',').map((key) => key.trim())

/** What the flags change; the service says which of them it refuses. */
function toChange(args: Record<string, unknown>): Change {
  const policy: Record<string, unknown> = {}
  for (const key of ['join', ...ACTS]) {
    const value = args[key.replace('_', '-')]
    if (value !== undefined) policy[key] = value === UNSET ? null : value
  }
  const { assistants } = args
  if (assistants !== undefined) policy.assistants = toAllowed(String(assistants))
  const { title, topic, visibility, freeze, unfreeze, 'auto-join': auto_join } = args
  const change: Record<string, unknown> = {
    title,
    topic: topic === UNSET ? '' : topic,
    visibility,
    frozen: freeze ? true : unfreeze ? false : undefined,
    auto_join: auto_join === UNSET ? null : auto_join,
    policy: Object.keys(policy).length > 0 ? policy : undefined,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Change
}
