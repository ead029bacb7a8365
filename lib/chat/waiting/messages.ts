import type { Context } from '../../context.ts'
import { type Actor, assertUser } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { parseKnown } from '../../core/use-case.ts'
import { isOwnMembership } from '../../live/feed/watch.ts'
import type { EventRow } from '../../live/log/log.ts'
import { createVisit } from '../feed/visit.ts'
import { requireMember } from '../memberships/access.ts'
import type { Message } from '../messages/schema.ts'
import { findThreadConversation } from '../threads/store.ts'
import { type IsAwaited, logOfAll, logOfConversation, type PlacedMessage, type ReadableLog } from './logs.ts'
import { MessagesAwaited } from './schema.ts'

/** What a call that waits is told and can end it. */
export interface WaitSignals {
  /** Ends the wait: the call returns what it has. */
  signal?: AbortSignal
  /** Is called at each heartbeat of the streams while the call waits. */
  onHeartbeat?: () => void
}

/** What `chat.messages.wait` takes. */
export interface WaitForMessages extends WaitSignals {
  /** Only messages of this conversation. */
  conversation_id?: string
  /** Only messages of this thread. */
  root_id?: string
  /**
   * A position, or `now`: that of the feed or of the stream of all conversations; or, with a conversation or a thread, a
   * `stream_position` of this conversation.
   */
  after: string
  /** How long to wait if there is none. Default: 25; 1 to 55. */
  seconds?: number
  /** Default: 50; maximum: 200. */
  max_messages?: number
  /** The maximum size of all messages but the first, as JSON. Default: 1 MiB. */
  max_bytes?: number
}

/** Messages after a position. */
export interface AwaitedMessages {
  /** New and edited ones, each once and as it is now, in the order of their events. */
  messages: Message[]
  /** The position behind them: `after` of the next call. */
  after: string
  /** There may be more: call again at once. */
  more?: true
  /** Set where events after the position are lost, or it is of another database: read again what is of interest. */
  reset?: true
}

/**
 * Waits for the next message that is new or edited, in the actor's conversations, and returns at once what came since a
 * position. A call counts as a stream of the user, and ends as streams do.
 *
 * @throws ChatError `validation_failed`; `forbidden` for the operator; `not_found` for another's conversation, also when the
 *   actor has been removed from it meanwhile; `too_many_streams`; `unavailable` while the service drains; `unauthenticated` when
 *   the session or key of the actor ends
 */
export async function wait(ctx: Context, actor: Actor, options: WaitForMessages): Promise<AwaitedMessages> {
  const { signal, onHeartbeat, ...input } = Object(options) as WaitForMessages
  const { conversation_id, root_id, after, seconds, max_messages, max_bytes } = parseKnown(MessagesAwaited, input)
  assertUser(actor)
  const place = await placeOf(ctx, { conversation_id, root_id })
  if (place.isGiven) await requireMember(ctx, ctx.db, actor, place.conversation_id)
  const isAwaited: IsAwaited = (row) =>
    (row.type === 'message.new' || row.type === 'message.edited') &&
    (place.conversation_id === undefined || row.conversation_id === place.conversation_id)
  const isWanted = (message: Message) => root_id === undefined || message.root_id === root_id
  if (actor.is_bot) ctx.streams.presence.noteReading(actor.user_id)
  const visit = createVisit(ctx, actor, { signal, onHeartbeat })
  await visit.enter()
  try {
    const reader = { user_id: actor.user_id, is_system: actor.system !== undefined }
    const all = logOfAll(ctx, { ...reader, limit: max_messages }, isAwaited, isWanted)
    const own =
      place.conversation_id === undefined ? undefined : logOfConversation(ctx, place.conversation_id, isWanted)
    const log = own && (after === 'now' || !(await all.isUsable(after))) ? own : all
    // A user who is removed from the conversation waits no longer.
    const wants = (row: EventRow) => isAwaited(row) || (place.isGiven && isOwnMembership(row, actor.user_id))
    const next = async () => {
      const goesOn = await visit.wait({ ...reader, conversation_id: place.conversation_id, wants, ms: seconds * 1000 })
      if (goesOn && place.isGiven) await requireMember(ctx, ctx.db, actor, place.conversation_id)
      return goesOn
    }
    const page = await readFrom(log, after, { next, max_messages, max_bytes })
    await visit.assertAllowed()
    if (place.isGiven) await requireMember(ctx, ctx.db, actor, place.conversation_id)
    return page
  } finally {
    visit.leave()
  }
}

/** The conversation of a call. @throws ChatError `not_found` for a thread that is not of it */
async function placeOf(
  { db }: Pick<Context, 'db'>,
  { conversation_id, root_id }: { conversation_id: string | undefined; root_id: string | undefined },
): Promise<{ conversation_id: string | undefined; isGiven: boolean }> {
  if (root_id === undefined) return { conversation_id, isGiven: conversation_id !== undefined }
  const ofThread = await findThreadConversation(db, root_id)
  const isOther = conversation_id !== undefined && conversation_id !== ofThread
  if (isOther) throw new ChatError('not_found')
  return { conversation_id: ofThread, isGiven: true }
}

interface Reading {
  /** Resolves to true when there may be a message, and to false when the call must return. */
  next(): Promise<boolean>
  max_messages: number
  max_bytes: number
}

async function readFrom(log: ReadableLog, after: string, { next, ...bounds }: Reading): Promise<AwaitedMessages> {
  const start = after === 'now' ? await log.head() : after
  if (after !== 'now' && !(await log.isUsable(after))) return { messages: [], after: await log.head(), reset: true }
  let page = await log.read(start)
  while (page.messages.length === 0 && !page.more && (await next())) page = await log.read(page.after)
  const taken = withinBounds(page.messages, bounds)
  const isCut = taken.count < page.messages.length
  return {
    messages: taken.messages,
    after: isCut ? page.messages[taken.count - 1]!.after : page.after,
    ...((isCut || page.more) && { more: true as const }),
  }
}

/** The first of these, each message once, and how many of them it stands for. */
function withinBounds(
  placed: readonly PlacedMessage[],
  { max_messages, max_bytes }: Pick<Reading, 'max_messages' | 'max_bytes'>,
): { messages: Message[]; count: number } {
  const messages = new Map<string, Message>()
  let room = max_bytes
  for (const [n, { message }] of placed.entries()) {
    if (messages.has(message.id)) continue
    room -= Buffer.byteLength(JSON.stringify(message)) + 1
    if (messages.size === max_messages || (room < 0 && messages.size > 0))
      return { messages: [...messages.values()], count: n }
    messages.set(message.id, message)
  }
  return { messages: [...messages.values()], count: placed.length }
}
