import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AssistantRequest } from '../../lib/assistant/provider.ts'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { routes } from '../../lib/endpoints.ts'
import { type Actor, type Chat, createChatService, type Message, openStorage, parseConfig } from '../../lib/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState } from '../support/service.ts'

/** A client's state of a conversation. */
interface State {
  title: string
  roles: Map<string, string>
  messages: Map<string, Message>
}

function statusAfter(finish_reason: string): Message['status'] {
  return (['cancelled', 'failed', 'interrupted'] as const).find((status) => status === finish_reason) ?? 'complete'
}

/** What only reads have: the own reactions, which a client keeps. With so few users, a message names all who reacted. */
function withOwn(message: Message, user_id: string): Message {
  const { reacted: _, reactions, ...rest } = message
  const own = (reactions ?? []).filter((each) => each.user_ids.includes(user_id)).map(({ emoji }) => emoji)
  return { ...rest, ...(reactions?.length && { reactions }), ...(own.length > 0 && { reacted: own }) }
}

/** Applies an event to the state of a client. */
function fold(state: State, event: ConversationStreamEvent, user_id: string): void {
  if (event.type === 'conversation.updated') state.title = event.payload.conversation.title
  if (event.type === 'membership.changed') {
    const { user_id, role, action } = event.payload
    if (action === 'removed') state.roles.delete(user_id)
    else state.roles.set(user_id, role!)
  }
  if ('payload' in event && 'message' in event.payload && typeof event.payload.message === 'object') {
    state.messages.set(event.payload.message.id, withOwn(event.payload.message, user_id))
  }
  if (event.type === 'reactions.changed') {
    const message = state.messages.get(event.payload.message_id)!
    state.messages.set(message.id, withOwn({ ...message, reactions: event.payload.reactions }, user_id))
  }
  if (event.type === 'attachment.changed') {
    const { message_id, attachment } = event.payload
    const message = state.messages.get(message_id)!
    const attachments = message.attachments?.map((each) => (each.id === attachment.id ? attachment : each))
    state.messages.set(message_id, { ...message, ...(attachments && { attachments }) })
  }
  if (event.type === 'pin.changed') {
    const { message_id, user_id: by, action, at } = event.payload
    const { pinned: _, ...message } = state.messages.get(message_id)!
    state.messages.set(message_id, {
      ...message,
      ...(action === 'added' && !message.deleted_at && { pinned: { ...(by && { by }), at } }),
    })
  }
  if (event.type === 'message.delta') {
    const message = state.messages.get(event.payload.message_id)!
    state.messages.set(message.id, { ...message, content: message.content + event.payload.choices[0]!.delta.content })
  }
  if (event.type === 'message.failed') {
    const { message_id, code } = event.payload
    state.messages.set(message_id, { ...state.messages.get(message_id)!, failure: code })
  }
  if (event.type === 'message.done') {
    const { message_id, finish_reason, usage } = event.payload
    const message = state.messages.get(message_id)!
    state.messages.set(message_id, {
      ...message,
      status: statusAfter(finish_reason),
      finish_reason,
      ...(usage && { usage }),
    })
  }
}

/** The current state of the API, and the position of the stream. */
async function read(chat: Chat, actor: Actor, conversationId: string): Promise<{ state: State; position: string }> {
  const conversation = await chat.conversations.get(actor, conversationId)
  const { threads } = await chat.threads.list(actor, conversationId, { limit: 200 })
  const messages = new Map<string, Message>()
  for (const { root_id } of threads) {
    const tree = await chat.threads.tree(actor, root_id, { limit: 500 })
    for (const message of tree.messages) messages.set(message.id, message)
  }
  const roles = new Map(conversation.participants.map((each) => [each.user_id, each.role as string]))
  return { state: { title: conversation.title, roles, messages }, position: conversation.stream_position! }
}

function excerptOf({ prompt, content }: Message): string {
  return (prompt ?? content).slice(0, 140)
}

/** The thread lists computed from the messages alone. */
async function checkSummaries(chat: Chat, actor: Actor, conversationId: string, state: State): Promise<void> {
  const { threads } = await chat.threads.list(actor, conversationId, { limit: 200 })
  const roots = [...state.messages.values()].filter((message) => message.depth === 0)
  expect(threads).toHaveLength(roots.length)
  for (const thread of threads) {
    const all = [...state.messages.values()].filter((message) => message.root_id === thread.root_id)
    const live = all.filter((message) => !message.deleted_at)
    expect(thread).toMatchObject({
      root_excerpt: excerptOf(state.messages.get(thread.root_id)!),
      message_count: live.length,
      participant_count: new Set(live.map((message) => message.author_user_id ?? message.requested_by)).size,
      last_activity_at: all
        .map((message) => message.created_at)
        .sort()
        .at(-1),
    })
  }
}

interface World {
  chat: Chat
  people: Actor[]
  conversation_id: string
  messages: string[]
}

type Act = (world: World, by: Actor, pick: number) => Promise<unknown>

const pickOf = (world: World, pick: number) => world.messages[pick % Math.max(1, world.messages.length)] ?? ''
const EMOJI = ['👍', '❤', '❤\uFE0F', ':tada:']
const ROLES = ['owner', 'admin', 'moderator', 'member', 'viewer'] as const

/** One action for each route that changes what a client sees of a conversation. */
const ACTIONS: Record<string, Act> = {
  messagesPostRoot: async ({ chat, conversation_id, messages }, by, pick) =>
    messages.push((await chat.messages.postRoot(by, conversation_id, { content: `root ${pick}` })).message_id),
  messagesReply: async (world, by, pick) =>
    world.messages.push(
      (await world.chat.messages.reply(by, pickOf(world, pick), { content: `reply ${pick}` })).message_id,
    ),
  answersCancel: async (world, by, pick) => {
    const parent = pickOf(world, pick)
    const { message_id } = await world.chat.messages.reply(by, parent, { content: `ask ${pick}`, role: 'assistant' })
    world.messages.push(message_id)
    // Complete, cancelled, deleted or failed, at random; in any case it has ended before the next step.
    if (pick % 4 === 1) await world.chat.answers.cancel(by, message_id)
    if (pick % 4 === 2) await world.chat.messages.remove(by, message_id)
    await innerState(world).answers.idle()
  },
  messagesEdit: (world, by, pick) => world.chat.messages.edit(by, pickOf(world, pick), { content: `edit ${pick}` }),
  messagesRemove: (world, by, pick) => world.chat.messages.remove(by, pickOf(world, pick)),
  messagesRestore: (world, by, pick) => world.chat.messages.restore(by, pickOf(world, pick)),
  reactionsAdd: (world, by, pick) => world.chat.reactions.add(by, pickOf(world, pick), EMOJI[pick % EMOJI.length]!),
  reactionsRemove: (world, by, pick) =>
    world.chat.reactions.remove(by, pickOf(world, pick), EMOJI[pick % EMOJI.length]!, { all: pick % 3 === 0 }),
  pinsAdd: (world, by, pick) => world.chat.pins.add(by, pickOf(world, pick)),
  pinsRemove: (world, by, pick) => world.chat.pins.remove(by, pickOf(world, pick)),
  threadsSetTitle: (world, by, pick) =>
    world.chat.threads.setTitle(by, pickOf(world, pick), { title: `title ${pick}` }),
  conversationsRename: ({ chat, conversation_id }, by, pick) =>
    chat.conversations.rename(by, conversation_id, { title: `title ${pick}` }),
  conversationsJoin: async ({ chat, conversation_id, people }, by) => {
    await chat.conversations.rename(people[0]!, conversation_id, { visibility: 'listed', policy: { join: 'anyone' } })
    await chat.conversations.join(by, conversation_id)
  },
  // The first person reads the events.
  conversationsLeave: ({ chat, conversation_id, people }, by) =>
    chat.conversations.leave(by === people[0] ? people[1]! : by, conversation_id),
  participantsAdd: ({ chat, conversation_id, people }, by, pick) =>
    chat.participants.add(by, conversation_id, {
      user_id: people[pick % people.length]!.user_id,
      role: ROLES[pick % 4]!,
    }),
  participantsChangeRole: ({ chat, conversation_id, people }, by, pick) =>
    chat.participants.changeRole(by, conversation_id, people[pick % people.length]!.user_id, {
      role: ROLES[(pick >> 2) % 4]!,
    }),
  participantsRemove: ({ chat, conversation_id, people }, by, pick) =>
    chat.participants.remove(by, conversation_id, people[1 + (pick % (people.length - 1))]!.user_id),
  invitesAccept: async ({ chat, conversation_id, people }, by, pick) => {
    const { token = '' } = await chat.invites.create(people[0]!, conversation_id, { role: ROLES[1 + (pick % 3)]! })
    await chat.invites.accept(by, {}, { token })
  },
}

/** Routes that change nothing a client reads of a conversation, with the reason. */
const SILENT: Record<string, string> = {
  commandsSetOfBot: 'commands are no part of a conversation',
  commandsInvoke: 'command.invoked, to its program alone: test/chat/commands',
  answersAddChunk: 'message.delta, of bots alone: test/chat/streaming',
  answersEnd: 'message.done, of bots alone: test/chat/streaming',
  responsesCreate: 'as messagesPostRoot, messagesReply and approvalsDecide: test/openai-api/responses',
  responsesCancel: 'as answersCancel: test/openai-api/responses',
  responsesRemove: 'as messagesRemove: test/openai-api/responses',
  responsesCreateConversation: 'as conversationsCreate: test/openai-api/conversations',
  uiChatsSend: 'as messagesPostRoot, messagesReply and approvalsDecide: test/protocols/ui-stream',
  uiChatsStop: 'as answersCancel: test/protocols/ui-stream',
  runsStart: 'as messagesPostRoot, messagesReply and approvalsDecide: test/protocols/ag-ui',
  runsConnect: 'reads',
  runsStop: 'as answersCancel: test/protocols/ag-ui',
  approvalsDecide: 'approval.changed and message.part: test/assistant/runs',
  feedbackSet: 'in no event: only reads have the rating',
  feedbackRemove: 'in no event: only reads have the rating',
  noticesCreate: 'notice.new, to the streams of its reader alone: test/chat/notices',
  noticesRemove: 'notice.removed, to the streams of its reader alone: test/chat/notices',
  webhooksCreate: 'only its owner lists webhooks',
  webhooksChange: 'only its owner lists webhooks',
  webhooksRemove: 'only its owner lists webhooks',
  webhooksVerify: 'only its owner lists webhooks',
  webhooksTest: 'only its receiver gets it',
  webhooksReplay: 'only its receiver gets it',
  webhooksReplayDelivery: 'only its receiver gets it',
  webhooksRotate: 'only its owner gets the secret',
  hooksCreate: 'only its maker learns of the address',
  hooksRemove: 'only those who manage the conversation list hooks',
  hooksPost: 'as a post of a user: test/integrations/hooks has it',
  botsCreate: 'a new user is in no conversation',
  botsChange: 'user.updated, as of any user: test/live has it',
  botsRemove: 'as an erasure of any user',
  botsCreateKey: 'only the owner of the bot learns of a key',
  botsRevokeKey: 'only the owner of the bot learns of a key',
  attachmentsCreate: 'only its uploader learns of a file before a message has it',
  attachmentsPutPart: 'only its uploader learns of a file before a message has it',
  attachmentsRemove: 'only its uploader learns of a file before a message has it',
  attachmentsLink: 'only its maker learns of a link',
  conversationsCreate: 'no reader can have an earlier snapshot',
  conversationsDirect: 'no reader can have an earlier snapshot',
  notificationsMarkRead: 'notification.read, to the streams of that user alone',
  conversationsRemove: 'its streams close',
  invitesCreate: 'only its maker learns of an invite',
  invitesRevoke: 'only its maker learns of an invite',
  threadsFollow: 'thread.followed, to the reader alone',
  threadsUnfollow: 'thread.followed, to the reader alone',
  threadsMarkRead: 'unread.update, to the reader alone; read.update is not kept',
  threadsMarkUnread: 'unread.update, to the reader alone; read.update is not kept',
  conversationsMarkRead: 'conversation.unread, to the reader alone; read.update is not kept',
  conversationsMarkAllRead: 'unread.cleared, to the reader alone; read.update is not kept',
  conversationsMarkUnread: 'conversation.unread, to the reader alone; read.update is not kept',
  conversationsSetSettings: 'settings.update, to the streams of that user alone',
  presenceSendHeartbeat: 'presence is not kept',
  presenceSetTyping: 'typing is not kept',
}

it('covers every route that changes data, or has a reason why not', () => {
  const outside = ['Setup', 'Authentication', 'Administration', 'Operations']
  const changing = Object.entries(routes).filter(([, route]) => route.changes && !outside.includes(route.tag))
  expect(Object.keys({ ...ACTIONS, ...SILENT }).sort()).toEqual(changing.map(([name]) => name).sort())
})

const step = fc.record({ action: fc.constantFrom(...Object.keys(ACTIONS)), by: fc.nat(3), pick: fc.nat(1000) })

/** Streams a few words, some of them together. */
async function* assistant({ turns }: AssistantRequest) {
  yield* ['You ', 'said ']
  await new Promise(setImmediate)
  if (turns.at(-1)!.content.endsWith('3')) throw new Error('of no use')
  yield* [turns.at(-1)!.content, { usage: { total_tokens: turns.length } }]
}

/** Every action once, by a user with the right to it. */
const WALK = [
  { action: 'participantsAdd', by: 0, pick: 3 },
  { action: 'participantsChangeRole', by: 0, pick: 11 },
  { action: 'participantsRemove', by: 0, pick: 2 },
  { action: 'invitesAccept', by: 3, pick: 1 },
  { action: 'messagesPostRoot', by: 0, pick: 0 },
  { action: 'threadsSetTitle', by: 0, pick: 0 },
  { action: 'messagesReply', by: 0, pick: 0 },
  { action: 'answersCancel', by: 0, pick: 0 },
  { action: 'answersCancel', by: 0, pick: 1 },
  { action: 'answersCancel', by: 0, pick: 2 },
  { action: 'answersCancel', by: 0, pick: 3 },
  { action: 'messagesEdit', by: 1, pick: 0 },
  { action: 'reactionsAdd', by: 1, pick: 0 },
  { action: 'reactionsRemove', by: 0, pick: 0 },
  { action: 'pinsAdd', by: 1, pick: 0 },
  { action: 'pinsRemove', by: 0, pick: 0 },
  { action: 'messagesRemove', by: 1, pick: 0 },
  { action: 'messagesRestore', by: 1, pick: 0 },
  { action: 'conversationsRename', by: 0, pick: 0 },
  { action: 'conversationsLeave', by: 1, pick: 0 },
  { action: 'conversationsJoin', by: 1, pick: 0 },
]

describeOnEachDatabase('the events of a conversation', (openUrl, dialect) => {
  it('turn an old snapshot into the current state of the API', { timeout: 120_000 }, async () => {
    const storage = await openStorage({ database: await openUrl(), strict: true })
    const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), storage, { assistant })
    await chat.start()
    const people = await createPeople(chat)
    const done = new Set<string>()

    const property = fc.asyncProperty(
      fc.array(step, { size: 'max', maxLength: 40 }),
      fc.nat(100),
      async (steps, cut) => {
        const { conversation_id } = await chat.conversations.create(people[0]!)
        const world: World = { chat, people, conversation_id, messages: [] }
        for (const person of people.slice(1, 3)) {
          await chat.participants.add(people[0]!, conversation_id, { user_id: person.user_id })
          await ACTIONS.messagesPostRoot!(world, person, 0)
        }
        const before = steps.length > 0 ? cut % steps.length : 0
        for (const each of steps.slice(0, before)) await act(world, each, done)
        const { state, position } = await read(chat, people[0]!, conversation_id)
        const polled = { ...structuredClone(state), position }
        for (const each of steps.slice(before)) {
          await act(world, each, done)
          if (each.pick % 3 === 0) await poll(world, polled)
        }
        await poll(world, polled)
        const now = await read(chat, people[0]!, conversation_id)
        if (now.position !== position) {
          for await (const { id, event } of chat.events.follow(people[0]!, conversation_id, {
            last_event_id: position,
          })) {
            fold(state, event, people[0]!.user_id)
            if (id === now.position) break
          }
        }
        expect(state).toEqual(now.state)
        expect(polled).toEqual({ ...now.state, position: now.position })
        await checkSummaries(chat, people[0]!, conversation_id, state)
      },
    )
    await fc.assert(property, { numRuns: dialect === 'sqlite' ? 80 : 20, examples: [[WALK, 0]] })
    expect([...done].sort()).toEqual(Object.keys(ACTIONS).sort())
    await chat.close()
  })
})

/** Applies the events since the last request for events. */
async function poll({ chat, people, conversation_id }: World, state: State & { position: string }): Promise<void> {
  const [actor] = people
  const opening = await chat.events.open(actor!, conversation_id, { once: true, last_event_id: state.position })
  await new Promise<void>((resolve) => {
    opening.connect({
      write({ events }) {
        for (const { id, event } of events) {
          fold(state, event, actor!.user_id)
          if (id !== undefined) state.position = id
        }
      },
      pending: () => 0,
      drained: async () => {},
      end: resolve,
    })
  })
}

/** Performs an action if it is allowed; a refusal changes nothing. */
async function act(
  world: World,
  { action, by, pick }: { action: string; by: number; pick: number },
  done: Set<string>,
): Promise<void> {
  try {
    await ACTIONS[action]!(world, world.people[by]!, pick)
    done.add(action)
  } catch (error) {
    if (!(error as { code?: string }).code || (error as { code: string }).code === 'internal') throw error
  }
}

async function createPeople(chat: Chat): Promise<Actor[]> {
  const { user } = await chat.setup.run({ email: 'p0@example.org', password: 'correct horse' })
  const people = [await chat.users.actor(user.id)]
  for (const name of ['p1', 'p2', 'p3']) {
    const created = await chat.users.create(
      { user_id: '', roles: ['admin'] },
      { username: name, email: `${name}@example.org` },
    )
    people.push(await chat.users.actor(created.user.id))
  }
  return people
}
