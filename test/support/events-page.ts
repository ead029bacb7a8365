import * as v from 'valibot'
import { ConversationFields } from '../../lib/chat/conversations/schema.ts'
import { ConversationStreamEvent, EphemeralEvent, PersistedEvent, StreamEvent } from '../../lib/chat/events/schema.ts'
import { Message } from '../../lib/chat/messages/schema.ts'
import { Notification } from '../../lib/chat/notifications/schema.ts'
import { ThreadSummary } from '../../lib/chat/threads/schema.ts'
import { Id, Instant } from '../../lib/core/schema.ts'
import { nodeOf, type SchemaNode, schemaOf } from '../../lib/core/schema-nodes.ts'
import { wrap } from './markdown.ts'

type Type = ConversationStreamEvent['type']
type PayloadOf<T extends Type> = Extract<ConversationStreamEvent, { type: T }>['payload']

const ADA = '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41'
const GRACE = '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42'
const CONVERSATION = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'
const ROOT = '01980a3c-8000-7a10-8b20-0c4f1d2e3a44'
const REPLY = '01980a3c-9000-7a10-8b20-0c4f1d2e3a45'
const NOTIFICATION = '01980a3c-9000-7a10-8b20-0c4f1d2e3a46'
const EVENT_ID = '5f1c9e07a2b3d4e6.42'

const MESSAGE: Message = {
  id: REPLY,
  conversation_id: CONVERSATION,
  root_id: ROOT,
  parent_id: ROOT,
  author_user_id: GRACE,
  role: 'user',
  content: 'It runs.',
  path: '1010',
  depth: 1,
  status: 'complete',
  created_at: '2026-11-20T10:00:00.123456Z',
}

const WITHOUT_REPLY = { root_id: ROOT, reply_count: 0, last_replier_ids: [] }
const THREAD = { root_id: ROOT, reply_count: 1, last_reply_at: MESSAGE.created_at, last_replier_ids: [ADA] }

/** The cause and an example payload of each event. */
const EVENTS: { [T in Type]: { when: string; example: PayloadOf<T> } } = {
  'thread.new': {
    when: 'A thread was started. The `message.new` of its root follows.',
    example: {
      conversation_id: CONVERSATION,
      root_id: ROOT,
      summary: {
        root_id: ROOT,
        conversation_id: CONVERSATION,
        root_excerpt: 'Does it run?',
        root_author: ADA,
        created_at: '2026-11-20T09:58:00.000000Z',
        last_activity_at: '2026-11-20T09:58:00.000000Z',
        message_count: 1,
        participant_count: 1,
        last_replier_ids: [],
      },
    },
  },
  'thread.updated': {
    when: 'The title of a thread was set, changed or removed. It is no activity.',
    example: { conversation_id: CONVERSATION, root_id: ROOT, title: 'Does it run?' },
  },
  'message.new': {
    when: 'A message was posted, as the root of a thread or as a reply.',
    example: { message: MESSAGE, thread: THREAD },
  },
  'message.edited': {
    when: 'The author edited a message, or a user that it mentions was erased.',
    example: { message: { ...MESSAGE, content: 'It runs well.', edited_at: '2026-11-20T10:01:00.000000Z' } },
  },
  'message.deleted': {
    when: 'A message was deleted. It keeps its place; its content is empty.',
    example: { message: { ...MESSAGE, content: '', deleted_at: '2026-11-20T10:02:00.000000Z' }, thread: WITHOUT_REPLY },
  },
  'message.restored': {
    when: 'A deleted message was restored, with its text.',
    example: { message: MESSAGE, thread: THREAD },
  },
  'reactions.changed': {
    when:
      'A user has reacted to a message, or a reaction was removed. `reactions` is the whole list: it replaces that of the ' +
      'message. `cleared`: an owner or admin removed all reactions with the emoji.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      user_id: ADA,
      emoji: '👍',
      action: 'added',
      reactions: [{ emoji: '👍', count: 1, user_ids: [ADA] }],
    },
  },
  'attachment.changed': {
    when: 'A file of a message was checked, or refused, or has a thumbnail now.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      attachment: {
        id: '019a9b1e-6a2b-7000-8000-000000000009',
        name: 'holiday.png',
        size: 48213,
        type: 'image/png',
        status: 'ready',
        width: 1600,
        height: 900,
        thumbnail: true,
        uploaded_by: ADA,
        created_at: '2026-11-20T10:03:00.000000Z',
      },
    },
  },
  'pin.changed': {
    when:
      'A message was pinned in its conversation, or unpinned. Also, with the time of the pin, when the user who pinned it was ' +
      'erased.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      user_id: ADA,
      action: 'added',
      at: '2026-11-20T10:03:00.000000Z',
    },
  },
  'message.delta': {
    when:
      'The assistant wrote a chunk of the message: append it to the content. Chunks arrive in order, from the ' +
      '`message.new` of the message, which is empty, to its `message.done`.',
    example: {
      id: `${REPLY}:0`,
      object: 'chat.completion.chunk',
      root_id: ROOT,
      message_id: REPLY,
      conversation_id: CONVERSATION,
      parent_id: ROOT,
      depth: 1,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'It runs' } }],
    },
  },
  'message.part': {
    when:
      'The assistant wrote a chunk of the message that is no text, such as a call of a tool. Fields of `part` replace ' +
      'those of the part with its `id`, and `delta` is added to the `text` of that. Of a deleted message it has `id` ' +
      'and `type` alone.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      idx: 1,
      part: {
        id: 1,
        type: 'tool',
        call_id: '0193c1d2-7a3b-7c4d-8e5f-a6b7c8d9e0f3',
        name: 'web_search',
        step: 1,
        state: 'running',
        input: { query: 'Does it run?' },
        by_provider: true,
      },
    },
  },
  'approval.changed': {
    when:
      'A call of a tool waits for a decision, a participant has said something of it, or the wait is over. The input is ' +
      'there where the answer shows it, and never `may_decide`: read the approval for these.',
    example: {
      approval: {
        call_id: '0193c1d2-7a3b-7c4d-8e5f-a6b7c8d9e0f3',
        state: 'approved',
        message_id: REPLY,
        root_id: ROOT,
        conversation_id: CONVERSATION,
        tool: { name: 'refund', title: 'Refund an order' },
        input: { order: 42 },
        requested_by: ADA,
        by: 'members',
        quorum: 1,
        votes: [{ user_id: GRACE, approve: true, at: MESSAGE.created_at }],
        requested_at: MESSAGE.created_at,
        expires_at: '2026-01-03T09:30:00.123456Z',
        decided_at: MESSAGE.created_at,
      },
    },
  },
  'message.failed': {
    when: 'The assistant could not finish the message; the text so far is kept. The `message.done` follows.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      code: 'provider_busy',
      message: 'The assistant is busy.',
      retry_after_seconds: 30,
    },
  },
  'message.done': {
    when:
      'The answer ended, for any reason. Its status is now `complete`, or the `finish_reason` if that is `cancelled`, ' +
      '`failed` or `interrupted`.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      finish_reason: 'stop',
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    },
  },
  'membership.changed': {
    when: 'A participant was added, was removed, left, or got another role. `role` is missing after a removal.',
    example: { conversation_id: CONVERSATION, user_id: GRACE, role: 'member', action: 'added' },
  },
  'user.merged': {
    when: 'A user became one with another, who has the messages, reactions, mentions and participations of both: replace the id by that of `user` in what you have. Both are named by `membership.changed`, too.',
    example: {
      conversation_id: CONVERSATION,
      from_user_id: '01980a3c-6f0f-7a10-8b20-0c4f1d2e3a4f',
      user: { id: GRACE, username: 'grace', kind: 'person' },
    },
  },
  'command.invoked': {
    when: 'To a program: a participant has called one of its commands.',
    example: {
      invocation_id: '01980a3c-6f0f-7a10-8b20-0c4f1d2e3a51',
      conversation_id: CONVERSATION,
      user_id: ADA,
      name: 'deploy',
      options: { version: '42' },
    },
  },
  'notice.new': {
    when: 'A program shows a text to you alone. It is no message. Left out once it has ended, and while you do not participate.',
    example: {
      notice: {
        id: '01980a3c-6f0f-7a10-8b20-0c4f1d2e3a50',
        conversation_id: CONVERSATION,
        user_id: GRACE,
        author_user_id: ADA,
        content: 'Your deploy to staging has failed.',
        created_at: '2026-11-20T10:00:00.123456Z',
        expires_at: '2026-11-20T11:00:00.123456Z',
      },
    },
  },
  'notice.removed': {
    when: 'A notice to you was dismissed, taken back, or has made way for newer ones. One that ends by its time has no event.',
    example: { notice_id: '01980a3c-6f0f-7a10-8b20-0c4f1d2e3a50', conversation_id: CONVERSATION },
  },
  'conversation.updated': {
    when: 'The title, the layout, the topic, the icon, the metadata, the visibility, the automatic joins or the policy of the conversation changed, or it was frozen.',
    example: {
      conversation: {
        id: CONVERSATION,
        title: 'Engines',
        is_group: true,
        layout: 'stream',
        visibility: 'private',
        policy: { mention_all: 'admins', receipts: 'off' },
        created_at: '2026-11-20T09:00:00.000000Z',
      },
    },
  },
  'thread.activity': {
    when: 'A thread has a new reply: it is now first in the list.',
    example: { root_id: ROOT, last_activity_at: '2026-11-20T10:00:00.123456Z' },
  },
  'user.updated': {
    when: 'The names or the state of a user in one of the conversations have changed; in conversations of any size. At most six times a minute for a user: the last change is always sent.',
    example: { user: { id: GRACE, username: 'grace', display_name: 'Grace Hopper', kind: 'person' } },
  },
  'presence.update': {
    when:
      'A participant is now online, away or offline; also sent for an added participant. Changes are gathered for 250 ms, ' +
      'and a user who is back within 5 seconds was never away. A conversation with more participants than ' +
      '`presence.broadcast_participants` gets none: its `stream.ready` has `presence: false`, and clients ask ' +
      '`GET /api/presence`.',
    example: { user_id: GRACE, status: 'online', last_seen_at: '2026-11-20T10:00:00.000000Z' },
  },
  'typing.update': {
    when: 'A participant is typing, until `expires_at` unless the event is sent again. A time in the past means that typing ended.',
    example: {
      conversation_id: CONVERSATION,
      root_id: ROOT,
      user_id: GRACE,
      expires_at: '2026-11-20T10:00:05.000000Z',
    },
  },
  'notification.new': {
    when:
      'The reader of this stream was notified, or a notification of a thread or of a direct conversation stands for one more ' +
      'message: that is sent at most once a second. `unread` is the number of unread notifications. Only on `GET /api/stream`.',
    example: {
      notification: {
        id: NOTIFICATION,
        kind: 'mention',
        at: '2026-11-20T10:00:00.123456Z',
        conversation_id: CONVERSATION,
        root_id: ROOT,
        message_id: REPLY,
        actor_user_id: GRACE,
        excerpt: 'It runs, @ada.',
      },
      unread: 3,
      mentions: 1,
    },
  },
  'notification.read': {
    when:
      'The reader of this stream has read notifications, here or on another device: those with these `ids`, or all up to ' +
      'the one `up_to`. Only on `GET /api/stream`.',
    example: { ids: [NOTIFICATION], unread: 2 },
  },
  'notifications.count': {
    when:
      'The number of unread notifications: after `stream.ready` and `stream.reset`, and when it changes for another reason, ' +
      'such as a deleted message, or a conversation that the user has left. Only on `GET /api/stream`.',
    example: { unread: 3 },
  },
  'unread.update': {
    when:
      'The reader of this stream marked a thread as read or unread, here or on another device; or a reply has arrived in a ' +
      'thread that the reader follows, in a conversation with the layout `stream`: then at once, and at most once a second ' +
      'for each thread, with the latest counts. Other users do not get it.',
    example: {
      conversation_id: CONVERSATION,
      root_id: ROOT,
      unread: 0,
      unread_replies: 0,
      conversation_unread: 3,
      conversation_unread_replies: 2,
      as_of: '2026-11-20T10:00:00.123456Z',
    },
  },
  'conversation.unread': {
    when:
      'The reader of this stream marked a whole conversation as read, its threads, or its threads as unread, here or on ' +
      'another device. Other users do not get it. `change` is what was marked: read the counts of its threads again.',
    example: {
      conversation_id: CONVERSATION,
      change: 'all_read',
      at: '2026-11-20T10:00:00.123456Z',
      unread: 0,
      unread_replies: 0,
      as_of: '2026-11-20T10:00:00.123456Z',
    },
  },
  'unread.cleared': {
    when:
      'The reader of this stream marked everything in all conversations as read, here or on another device: what arrived by ' +
      '`up_to`. Nothing else is sent about these conversations. `unread` is the number of unread notifications that are left. Only on `GET /api/stream`.',
    example: { up_to: '2026-11-20T10:00:00.123456Z', unread: 0 },
  },
  'thread.followed': {
    when:
      'The reader of this stream follows a thread from now on, or no longer: by a call, a reply of theirs or a mention, here ' +
      'or on another device. Other users do not get it.',
    example: { conversation_id: CONVERSATION, root_id: ROOT, following: true, unread_replies: 2 },
  },
  'read.update': {
    when:
      'The read marker of a participant in a thread, or with `scope` in the whole conversation, has moved, here or on ' +
      'another device: at most once a second for a person and thread, the latest counts. Only where the policy `receipts` is `on`, in conversations with at most 200 ' +
      'participants, and only about and to those who share what they read.',
    example: { conversation_id: CONVERSATION, root_id: ROOT, user_id: GRACE, read_at: '2026-11-20T10:00:00.123456Z' },
  },
  'rights.changed': {
    when:
      'An administrator, or the login of the host, gave the reader of this stream other roles in the service; with ' +
      '`conversation_id`, the role in that conversation is another one. Read what you may do again: `can` of `GET /api/auth/me`, ' +
      'or of the conversation. Only on `GET /api/stream`.',
    example: { conversation_id: CONVERSATION },
  },
  'settings.update': {
    when:
      'The reader of this stream changed their own settings for a conversation, here or on another device; or a ' +
      'notification, or a post of theirs, ended that it is archived. It has what is stored when it is sent. Only streams of all ' +
      'conversations get it.',
    example: {
      conversation_id: CONVERSATION,
      settings: { level: 'mentions', muted_until: 'forever', archived: false, receipts: true },
    },
  },
  'stream.ready': {
    when:
      'The first event of every stream. `resumed` is true if the stream continues from the given id. `last_event_id` is ' +
      'the position where it starts, and is also the `id` of this event. A stream of all conversations has neither `conversation_id` nor `seq`.',
    example: { conversation_id: CONVERSATION, resumed: true, last_event_id: EVENT_ID, seq: 42 },
  },
  'stream.reset': {
    when:
      'The given id cannot be resumed: it is not an id (`malformed`), belongs to another conversation or history ' +
      '(`unknown`), is ahead of the log (`future`), or is older than the stored events (`expired`). Read the state again; ' +
      'this stream continues from `last_event_id`.',
    example: { reason: 'unknown', last_event_id: EVENT_ID },
  },
  'stream.closed': {
    when:
      'The last event before the server ends the stream: the session ended (`session_ended`), the reader is no longer a ' +
      'participant or the conversation was deleted (`removed`), the service is stopping (`draining`), or the reader was ' +
      'too slow (`too_slow`). After the last two, reconnect with the last id. A request with `once` has got its events ' +
      '(`caught_up`).',
    example: { reason: 'draining' },
  },
}

const INTRODUCTION = `<!-- Generated from lib/chat/events/schema.ts by test/support/generate-docs.ts: change it there. -->

# Events

The events of \`GET /api/stream/conversations/{conversation_id}\` and of \`GET /api/stream\`.
[Event streams](../concepts/streaming.md) explains how to follow them. An event is UTF-8 text in this form:

\`\`\`text
id: ${EVENT_ID}
event: membership.changed
data: {"type":"membership.changed","payload":{…}}
\`\`\`

\`data\` is one line of JSON: \`{ "type", "payload" }\`. The examples below are \`data\`, wrapped for reading.

A field with \`?\` may be missing; no field is ever \`null\`. An _id_ is a UUIDv7, an _instant_ is RFC 3339 in UTC with
microseconds. New fields and new event types may be added: ignore unknown ones.
`

const GROUPS: [title: string, schema: { options: v.GenericSchema[] }, text: string][] = [
  [
    'Stored events',
    PersistedEvent as never,
    'These have an `id`, are in the log, and are sent again to a reader that resumes from an earlier id. Each contains the ' +
      'state at the time it is sent: in a replay, a message that was edited since has its new text, and a message that was ' +
      'deleted since has none.',
  ],
  [
    'Ephemeral events',
    EphemeralEvent as never,
    'These have no `id` and are not stored: only streams open at that moment receive them. Two events about the same ' +
      'subject may be merged into the later one.',
  ],
  ['Stream events', StreamEvent as never, 'Of these, only `stream.ready` has an `id`.'],
]

const SHAPES: [name: string, schema: v.GenericSchema][] = [
  ['Message', Message],
  ['ThreadSummary', ThreadSummary],
  ['Notification', Notification],
  ['ConversationFields', ConversationFields],
]

/** The reference page of every event. @throws ValiError for an example that does not match the schema */
export function eventsPage(): string {
  const groups = GROUPS.map(([title, schema, text]) =>
    [`## ${title}\n\n${wrap(text)}\n`, ...schema.options.map((each) => describeEvent(nodeOf(each)))].join('\n'),
  )
  const shapes = SHAPES.map(([name, schema]) => `### ${name}\n\n${table(nodeOf(schema))}`)
  return [INTRODUCTION, ...groups, `## Shapes\n\n${shapes.join('\n')}`].join('\n')
}

function describeEvent({ entries }: SchemaNode): string {
  const type = entries!.type!.literal as Type
  const { when, example } = EVENTS[type]
  const event = v.parse(ConversationStreamEvent, { type, payload: example })
  const json = JSON.stringify(event, null, 2)
  return `### \`${type}\`\n\n${wrap(when)}\n\n${table(entries!.payload!)}\n\`\`\`json\n${json}\n\`\`\`\n`
}

function table({ entries }: SchemaNode): string {
  const rows = Object.entries(entries!).map(([name, node]) => {
    const isOptional = node.type === 'optional'
    const inner = isOptional ? node.wrapped! : node
    const description = v.getDescription(schemaOf(inner)) ?? ''
    return `| \`${name}\`${isOptional ? '?' : ''} | ${typeOf(inner)} | ${description} |\n`
  })
  return `| field | type | |\n|---|---|---|\n${rows.join('')}`
}

function typeOf(node: SchemaNode): string {
  const shape = SHAPES.find(([, schema]) => (schema as unknown) === node)
  if (shape) return `[${shape[0]}](#${shape[0].toLowerCase()})`
  if (isA(node, Id)) return 'id'
  if (isA(node, Instant)) return 'instant'
  if (node.type === 'picklist') return (node.options as string[]).map((option) => `\`${option}\``).join(', ')
  return node.type
}

/** Whether `node` is `schema`, with or without further metadata. */
function isA(node: SchemaNode, schema: v.GenericSchema): boolean {
  const { pipe = [] } = node as { pipe?: unknown[] }
  return (node as unknown) === schema || pipe[0] === schema
}
