import type { Message, PostedMessage } from '../../api/messages.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { isTransient } from '../backoff.ts'
import { newKey } from '../new-key.ts'
import { refuseUnknown } from '../options.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { createRetries } from './retries.ts'
import { isBy } from './threads.ts'
import type { NewPost, PendingPost, StoreClient } from './types.ts'

/** Posts that wait or have failed; with more of them, a post is refused. */
const MAX_PENDING = 200

const NEW_POST: NamesOf<NewPost> = {
  key: 0,
  conversation_id: 0,
  parent_id: 0,
  root_id: 0,
  content: 0,
  title: 0,
  role: 0,
  assistant: 0,
  attachments: 0,
  quote_id: 0,
  variant_of: 0,
}

/** The posts that are not stored yet. Those of a conversation are sent one after another. */
export interface Outbox {
  list(belongs: (post: PendingPost) => boolean): readonly PendingPost[]
  /** @returns the stored post, or `undefined` after a failure: the post is then kept */
  post(post: NewPost): Promise<PostedMessage | undefined>
  retry(key: string): Promise<PostedMessage | undefined>
  discard(key: string): void
  clear(): void
  /** Sends none again by itself. */
  close(): void
  /** Sends those again that failed because the service was not reached. */
  resume(): void
  /**
   * A post that arrives by the stream before its response is stored: it is not shown twice.
   *
   * @returns a function that reports the change, for when the message is in its place
   */
  apply(event: ConversationStreamEvent, user_id: string): (() => void) | undefined
}

/**
 * @param onSend called with a post that is shown, before it is sent: what it returns is awaited
 * @param onChange called with a post whose state has changed, after the change
 * @param onStored called with each stored message, before `onChange`
 */
export function createOutbox(
  client: StoreClient,
  onSend: (post: PendingPost) => Promise<void>,
  onChange: (post: PendingPost) => void,
  onStored: (message: Message, post: PendingPost) => void,
): Outbox {
  const posts = new Map<string, PendingPost>()
  const queue = createQueue()
  const retries = createRetries((key) => void retry(key))
  const { send, isShown, findOwn } = createSender(client, posts, keep, (post, message) => {
    retries.end(post.key)
    onStored(message, post)
    onChange(post)
  })

  function keep(post: PendingPost): void {
    posts.set(post.key, post)
    if (post.status === 'failed') retries.failed(post.key, post.error)
    onChange(post)
  }

  function enqueue(post: PendingPost): Promise<PostedMessage | undefined> {
    keep(post)
    const ready = onSend(post)
    return queue(post.conversation_id, async () => {
      await ready
      return send(post)
    })
  }

  async function retry(key: string): Promise<PostedMessage | undefined> {
    const { error, ...post } = posts.get(key) ?? {}
    return error === undefined ? undefined : enqueue({ ...(post as PendingPost), status: 'sending' })
  }

  return {
    list: (belongs) => [...posts.values()].filter((post) => isShown(post) && belongs(post)),
    async post(post) {
      refuseUnknown('store.post', post, NEW_POST)
      if (posts.size >= MAX_PENDING) throw new RangeError(`${MAX_PENDING} posts wait already: retry or discard them`)
      return enqueue(toPending(post))
    },
    retry,
    discard(key) {
      const post = posts.get(key)
      retries.end(key)
      if (posts.delete(key)) onChange(post as PendingPost)
    },
    clear() {
      retries.clear()
      posts.clear()
    },
    close: retries.stop,
    resume: retries.resume,
    apply(event, user_id) {
      const own = event.type === 'message.new' && findOwn(event.payload.message, user_id)
      // Sent again, one that has failed turns out to be the message, or is stored: none is lost.
      return own ? () => (own.error === undefined ? onChange(own) : void retry(own.key)) : undefined
    },
  }
}

/**
 * Sends posts, and knows which message is one of them.
 *
 * @param keep stores the state of a post, and shows it
 */
function createSender(
  client: StoreClient,
  posts: Map<string, PendingPost>,
  keep: (post: PendingPost) => void,
  onStored: (post: PendingPost, message: Message) => void,
) {
  const inFlight = new Set<PendingPost>()
  /** The posts in flight that have probably arrived by the stream: they are not shown, but kept until the response. */
  const arrived = new Set<PendingPost>()
  /** The ids of messages whose response came before their event. */
  const answered = new Set<string>()

  function attempt(post: PendingPost): Promise<PostedMessage> {
    inFlight.add(post)
    return sendTo(client, post).catch((error) => {
      // Only its response was lost, it seems: the same key brings it, or stores the post if the message was another.
      if (arrived.has(post) && isTransient(error)) return sendTo(client, post)
      throw error
    })
  }

  function settle(post: PendingPost): void {
    inFlight.delete(post)
    arrived.delete(post)
  }

  async function send(post: PendingPost): Promise<PostedMessage | undefined> {
    // While it waited or was sent, it may have been discarded, or its user may have left.
    const isHere = () => posts.get(post.key) === post
    if (!isHere()) return undefined
    try {
      const posted = await attempt(post)
      answered.add(posted.message.id)
      if (answered.size > MAX_PENDING) answered.delete([...answered][0]!)
      const wasHere = isHere()
      if (wasHere) posts.delete(post.key)
      // In one turn with the deletion: an event in between would show both, the post and its message.
      settle(post)
      if (wasHere) onStored(post, posted.message)
      return posted
    } catch (error) {
      settle(post)
      if (isHere()) keep({ ...post, status: 'failed', error })
      return undefined
    }
  }

  return {
    send,
    isShown: (post: PendingPost) => !arrived.has(post),
    /** The post that a message of the user may be: one in flight, no longer shown, or one whose response was lost. */
    findOwn(message: Message, user_id: string): PendingPost | undefined {
      if (answered.delete(message.id)) return undefined
      const own = [...posts.values()].find(
        (post) => (inFlight.has(post) || isTransient(post.error)) && isSame(post, message, user_id),
      )
      if (own && inFlight.has(own)) arrived.add(own)
      return own
    },
  }
}

/** Runs the work of each key one after another. */
function createQueue() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const done = (last.get(key) ?? Promise.resolve()).then(work)
    last.set(key, done)
    void done.then(() => last.get(key) === done && last.delete(key))
    return done
  }
}

function toPending({ key = newKey(), ...post }: NewPost): PendingPost {
  return { ...post, key, status: 'sending', created_at: new Date().toISOString() }
}

function sendTo(client: StoreClient, post: PendingPost): Promise<PostedMessage> {
  const { key, conversation_id, parent_id, content, title, role, assistant, attachments, quote_id, variant_of } = post
  const options = { headers: { 'idempotency-key': key } }
  const attachment_ids = attachments?.map(({ id }) => id)
  const input = { content, title, role, assistant, attachment_ids, quote_id, variant_of }
  if (parent_id === undefined) return client.messages.postRoot(conversation_id, input, options)
  return client.messages.reply(parent_id, input, options)
}

/** Whether a message may be a post: its key is not in the message. */
function isSame(post: PendingPost, message: Message, user_id: string): boolean {
  return (
    isBy(message, user_id) &&
    post.conversation_id === message.conversation_id &&
    post.parent_id === message.parent_id &&
    (post.role ?? message.role) === message.role &&
    post.quote_id === message.quote?.message_id &&
    post.content === ((message.role === 'user' ? message.content : message.prompt) ?? '')
  )
}
