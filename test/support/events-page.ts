import * as v from 'valibot'
import { ConversationFields } from '../../lib/chat/conversations/schema.ts'
import { ConversationStreamEvent, EphemeralEvent, PersistedEvent, StreamEvent } from '../../lib/chat/events/schema.ts'
import { Message } from '../../lib/chat/messages/schema.ts'
import { ThreadSummary } from '../../lib/chat/threads/schema.ts'
import { Id, Instant } from '../../lib/core/schema.ts'
import { wrap } from './markdown.ts'

type Type = ConversationStreamEvent['type']
type PayloadOf<T extends Type> = Extract<ConversationStreamEvent, { type: T }>['payload']

const ADA = '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41'
const GRACE = '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42'
const CONVERSATION = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'
const ROOT = '01980a3c-8000-7a10-8b20-0c4f1d2e3a44'
const REPLY = '01980a3c-9000-7a10-8b20-0c4f1d2e3a45'
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

/** When each event comes, and what its payload may be. */
const EVENTS: { [T in Type]: { when: string; example: PayloadOf<T> } } = {
  'thread.new': {
    when: 'Somebody has started a thread. The `message.new` of its root comes next.',
    example: {
      conversation_id: CONVERSATION,
      root_id: ROOT,
      summary: {
        root_id: ROOT,
        root_excerpt: 'Does it run?',
        root_author: ADA,
        created_at: '2026-11-20T09:58:00.000000Z',
        last_activity_at: '2026-11-20T09:58:00.000000Z',
        message_count: 1,
        participant_count: 1,
      },
    },
  },
  'message.new': {
    when: 'A message was posted, as the root of a thread or as a reply.',
    example: { message: MESSAGE },
  },
  'message.edited': {
    when: 'The author has given a message another text.',
    example: { message: { ...MESSAGE, content: 'It runs well.', edited_at: '2026-11-20T10:01:00.000000Z' } },
  },
  'message.deleted': {
    when: 'A message was deleted. It keeps its place, and its content is empty.',
    example: { message: { ...MESSAGE, content: '', deleted_at: '2026-11-20T10:02:00.000000Z' } },
  },
  'message.restored': {
    when: 'A deleted message is back, with its text.',
    example: { message: MESSAGE },
  },
  'message.delta': {
    when:
      'The assistant has written a piece of the message: it is added to its content. Pieces come in order, from the ' +
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
  'message.failed': {
    when: 'The assistant could not finish the message; what it has written stays. The `message.done` comes next.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      code: 'timeout',
      message: 'The assistant took too long.',
    },
  },
  'message.done': {
    when:
      'The assistant writes no more of the message, whatever the reason. Its status is `complete` now, or what ' +
      '`finish_reason` says of `cancelled`, `failed` and `interrupted`.',
    example: {
      message_id: REPLY,
      root_id: ROOT,
      conversation_id: CONVERSATION,
      finish_reason: 'stop',
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    },
  },
  'membership.changed': {
    when: 'Somebody was added, was removed or has left, or has another role. `role` is missing when they are removed.',
    example: { conversation_id: CONVERSATION, user_id: GRACE, role: 'member', action: 'added' },
  },
  'conversation.updated': {
    when: 'The conversation has another title.',
    example: {
      conversation: {
        id: CONVERSATION,
        title: 'Engines',
        is_group: true,
        created_at: '2026-11-20T09:00:00.000000Z',
      },
    },
  },
  'thread.activity': {
    when: 'A thread has a new reply: it is the first of the list now.',
    example: { root_id: ROOT, last_activity_at: '2026-11-20T10:00:00.123456Z' },
  },
  'presence.update': {
    when: 'A participant is online, away or offline now; also said of somebody who is added.',
    example: { user_id: GRACE, status: 'online', last_seen_at: '2026-11-20T10:00:00.000000Z' },
  },
  'typing.update': {
    when: 'Somebody types, until `expires_at` unless it is said again. A moment in the past says that they have stopped.',
    example: {
      conversation_id: CONVERSATION,
      root_id: ROOT,
      user_id: GRACE,
      expires_at: '2026-11-20T10:00:05.000000Z',
    },
  },
  'unread.update': {
    when:
      'The reader of this stream has marked a thread read, here or on another device. Nobody else is told. New ' +
      'messages are counted by `message.new`.',
    example: { conversation_id: CONVERSATION, root_id: ROOT, unread: 0 },
  },
  'stream.ready': {
    when:
      'The first event of every stream. `resumed` says whether it goes on from the given id. `last_event_id` is where ' +
      'it begins, and is the `id` of this event too. A stream of all conversations has neither `conversation_id` nor `seq`.',
    example: { conversation_id: CONVERSATION, resumed: true, last_event_id: EVENT_ID, seq: 42 },
  },
  'stream.reset': {
    when:
      'The given id is of no use: it is no id (`malformed`), of another conversation or history (`unknown`), ahead of ' +
      'what has happened (`future`), or older than what is kept (`expired`). Read the state again; this stream goes on ' +
      'from `last_event_id`.',
    example: { reason: 'unknown', last_event_id: EVENT_ID },
  },
  'stream.closed': {
    when:
      'The last event, when the server ends the stream: the session has ended (`session_ended`), the reader is no ' +
      'longer a participant or the conversation is deleted (`removed`), the service stops (`draining`), or the reader ' +
      'was too far behind (`too_slow`). After the last two, come back with the last id.',
    example: { reason: 'draining' },
  },
}

const INTRODUCTION = `<!-- Made from lib/chat/events/schema.ts by test/support/generate-docs.ts: change it there. -->

# Events

What arrives on \`GET /api/stream/conversations/{conversation_id}\` and on \`GET /api/stream\`. How to follow them is in
[Streaming](../concepts/streaming.md). On the wire an event looks like this, in UTF-8:

\`\`\`text
id: ${EVENT_ID}
event: membership.changed
data: {"type":"membership.changed","payload":{…}}
\`\`\`

\`data\` is one line of JSON: \`{ "type", "payload" }\`. The examples below are \`data\`, wrapped for reading.

A field with \`?\` may be missing; none is ever \`null\`. An _id_ is a UUIDv7, an _instant_ is RFC 3339 in UTC with
microseconds. Further fields and further types of events may come: skip those you do not know.
`

const GROUPS: [title: string, schema: { options: v.GenericSchema[] }, text: string][] = [
  [
    'Kept',
    PersistedEvent as never,
    'These have an `id`, are in the log, and are sent again to who resumes from an earlier id. Each says what its subject is ' +
      'when the event is sent: in a replay, a message that was edited since has its new text, and one that was deleted ' +
      'since has none.',
  ],
  [
    'Said once',
    EphemeralEvent as never,
    'These have no `id`. Who is not listening does not hear them, later or ever. Two about the same subject may become ' +
      'one, the later.',
  ],
  ['About the stream', StreamEvent as never, 'Of these, `stream.ready` alone has an `id`.'],
]

const SHAPES: [name: string, schema: v.GenericSchema][] = [
  ['Message', Message],
  ['ThreadSummary', ThreadSummary],
  ['ConversationFields', ConversationFields],
]

/** The page about every event of a stream. @throws ValiError for an example that is not what the schema says */
export function eventsPage(): string {
  const groups = GROUPS.map(([title, schema, text]) =>
    [`## ${title}\n\n${wrap(text)}\n`, ...schema.options.map((each) => describeEvent(each as unknown as Node))].join(
      '\n',
    ),
  )
  const shapes = SHAPES.map(([name, schema]) => `### ${name}\n\n${table(schema as unknown as Node)}`)
  return [INTRODUCTION, ...groups, `## Shapes\n\n${shapes.join('\n')}`].join('\n')
}

/** What is looked at of a schema. */
interface Node {
  type: string
  entries?: Record<string, Node>
  wrapped?: Node
  item?: Node
  literal?: string
  options?: string[]
}

function describeEvent({ entries }: Node): string {
  const type = entries!.type!.literal as Type
  const { when, example } = EVENTS[type]
  const event = v.parse(ConversationStreamEvent, { type, payload: example })
  const json = JSON.stringify(event, null, 2)
  return `### \`${type}\`\n\n${wrap(when)}\n\n${table(entries!.payload!)}\n\`\`\`json\n${json}\n\`\`\`\n`
}

function table({ entries }: Node): string {
  const rows = Object.entries(entries!).map(([name, node]) => {
    const isOptional = node.type === 'optional'
    const inner = isOptional ? node.wrapped! : node
    const description = v.getDescription(inner as never) ?? ''
    return `| \`${name}\`${isOptional ? '?' : ''} | ${typeOf(inner)} | ${description} |\n`
  })
  return `| field | type | |\n|---|---|---|\n${rows.join('')}`
}

function typeOf(node: Node): string {
  const shape = SHAPES.find(([, schema]) => (schema as unknown) === node)
  if (shape) return `[${shape[0]}](#${shape[0].toLowerCase()})`
  if (isA(node, Id)) return 'id'
  if (isA(node, Instant)) return 'instant'
  if (node.type === 'picklist') return node.options!.map((option) => `\`${option}\``).join(', ')
  return node.type
}

/** Whether a schema is this one, or this one with more said about it. */
function isA(node: Node, schema: v.GenericSchema): boolean {
  const { pipe = [] } = node as { pipe?: unknown[] }
  return (node as unknown) === schema || pipe[0] === schema
}
