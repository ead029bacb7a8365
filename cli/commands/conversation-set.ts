import { PolicyValue, Visibility } from '../../lib/chat/conversations/schema-settings.ts'
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
  meta: { name: 'set', description: 'Change who sees a conversation, who joins it and who may do what in it' },
  example: 'chat-server conversation set 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --visibility open --join anyone',
  args: {
    id: { type: 'string', required: true, description: 'Id from `conversation list`' },
    title: { type: 'string', description: 'Its title' },
    topic: { type: 'string', description: 'Its topic; empty: none' },
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
    ...commonArgs,
  },
  run: async ({ args }) => {
    const change = toChange(args)
    if (args.freeze && args.unfreeze) throw new UsageError('--freeze and --unfreeze exclude each other')
    if (Object.keys(change).length === 0)
      throw new UsageError('name what to change, such as --visibility listed; --help lists it all')
    await withChat(args, async (chat) => {
      const actor = await chat.system(ACTOR)
      const changed = await named('conversation', args.id, chat.conversations.rename(actor, args.id, change))
      const { id, title, topic, visibility, policy, frozen_at, auto_join } = changed
      const lines = [title || '(no title)', ...roomLines(changed)]
      print(args, { id, title, topic, visibility, policy, frozen_at, auto_join }, lines.map(oneLine).join('\n'))
    })
  },
})

/** What the flags change; the service says which of them it refuses. */
function toChange(args: Record<string, unknown>): Change {
  const policy: Record<string, unknown> = {}
  for (const key of ['join', ...ACTS]) {
    const value = args[key.replace('_', '-')]
    if (value !== undefined) policy[key] = value === UNSET ? null : value
  }
  const { title, topic, visibility, freeze, unfreeze, 'auto-join': auto_join } = args
  const change: Record<string, unknown> = {
    title,
    topic,
    visibility,
    frozen: freeze ? true : unfreeze ? false : undefined,
    auto_join: auto_join === UNSET ? null : auto_join,
    policy: Object.keys(policy).length > 0 ? policy : undefined,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Change
}
