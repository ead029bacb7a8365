import type { Person, User } from '../../api/client-entities.ts'
import { createBackoff, isTransient, pause } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { type Cell, createCell, type Readable } from './cell.ts'
import { lingering } from './lingering.ts'
import type { StoreClient } from './types.ts'

const SILENT = 'The event stream sends nothing: a proxy may hold it back'

/** The state of the connection; `ended` after a sign-out, and with the error that prevents it. */
export interface Connection {
  status: 'idle' | 'connecting' | 'online' | 'offline' | 'ended'
  error?: unknown
  /** While `offline`: when the next attempt begins, in milliseconds since 1970 by the clock of the client. */
  retry_at?: number
}

/** A part of the store that follows the stream. */
export interface Follower {
  /** The stream has begun, or has lost its place: everything has to be read. */
  load?(): void
  /** The stream continues after a pause, in which ephemeral events were lost. */
  resume?(): void
  apply?(event: ConversationStreamEvent): void
  fail?(error: unknown): void
  /** Whether it has only conversations in which the user participates: then it gets no event of one that is visited. */
  isOwn?: boolean | undefined
  /** The user may be another: what was read is void. */
  reset?(): void
  /** The store is closed. */
  close?(): void
}

/** The number of unread notifications. */
export interface InboxCount {
  unread: number
  /** The number that the service has sent last, if this one is an expected one. */
  sent?: InboxCount
}

/** The user of the page, once it is known. */
export interface MeView {
  status: 'loading' | 'ready'
  user?: User
}

/** The stream of all conversations of the user, open while the store has followers. */
export interface Feed {
  connection: Readable<Connection>
  /** The user, while it has subscribers: as the service says when the stream begins, and with each change. */
  me: Cell<MeView>
  /** The number of unread notifications: the stream begins with it, and has it in each event that changes it. */
  inbox: Cell<InboxCount>
  /** Empty until the service has been reached. */
  userId(): string
  /** @returns a function that leaves */
  join(follower: Follower): () => void
  /**
   * Follows the own stream of a conversation that the user reads without participating, for all followers.
   *
   * @param follower reads again when that stream begins, and when it ends
   * @returns a function that leaves
   */
  visit(conversation_id: string, follower: Follower): () => void
  /** Closes the stream, and opens it again if there are followers: the user has changed. */
  restart(): void
  close(): void
}

/**
 * @param user the user of the snapshot that the store begins with
 * @param onEvent called with each event before the followers; what it returns, after them
 * @param onOther called before the followers are reset: the user is, or may be, another
 */
export function createFeed(
  client: StoreClient,
  user: User | undefined,
  onEvent: (event: ConversationStreamEvent) => (() => void) | undefined,
  onOther: () => void,
): Feed {
  const followers = new Set<Follower>()
  const userId = () => user_id
  const me = createCell<MeView>(
    user ? { status: 'ready', user } : { status: 'loading' },
    lingering(() => join({})),
  )
  const connection = createCell<Connection>({ status: 'idle' })
  const inbox = createCell<InboxCount>(
    { unread: 0 },
    lingering(() => join({})),
  )
  const isStart = createCounting(inbox)
  let user_id = user?.id ?? ''
  let running: AbortController | undefined
  const listener: Listener = {
    set(next) {
      connection.set(next)
      if (next.error !== undefined) for (const follower of [...followers]) follower.fail?.(next.error)
    },
    onUser(next) {
      if (user_id && user_id !== next.id) reset()
      user_id = next.id
      me.set({ status: 'ready', user: next })
    },
    onEvent(event) {
      if (isStart(event)) return
      if (event.type === 'user.updated') me.set(withNames(me.getSnapshot(), event.payload.user))
      const afterwards = onEvent(event)
      deliver(followers, event)
      afterwards?.()
    },
  }

  function start(): void {
    running = new AbortController()
    void follow(client, running.signal, listener)
  }

  function stop(): void {
    running?.abort()
    connection.set({ status: 'idle' })
  }

  /** Forgets what was read for another user. */
  function reset(): void {
    user_id = ''
    me.set({ status: 'loading' })
    inbox.set({ unread: 0 })
    onOther()
    for (const follower of [...followers]) follower.reset?.()
  }

  function join(follower: Follower): () => void {
    followers.add(follower)
    const { status } = connection.getSnapshot()
    if (status === 'idle' || status === 'ended') start()
    else if (status !== 'connecting') follower.load?.()
    return () => {
      if (followers.delete(follower) && followers.size === 0) stop()
    }
  }

  return {
    connection,
    me,
    inbox,
    userId,
    join,
    visit(id, follower) {
      // Loaded where such a conversation is read. Without it the page shows what it has read.
      const leaving = import('./visits.ts').then(
        (visits) => visits.visit(client, id, follower, { followers, userId }),
        () => () => {},
      )
      return () => void leaving.then((leave) => leave())
    },
    restart() {
      stop()
      reset()
      if (followers.size > 0) start()
    },
    close() {
      for (const follower of [...followers]) follower.close?.()
      followers.clear()
      stop()
    },
  }
}

/** The user after a change of a user's names. */
function withNames(me: MeView, { id, username, display_name, avatar_url }: Person): MeView {
  return me.user?.id === id ? { ...me, user: { ...me.user, username, display_name, avatar_url } } : me
}

/** Counts with each event. @returns whether it is the number that the stream begins with: what it counts is read anyway */
function createCounting(inbox: Cell<InboxCount>): (event: ConversationStreamEvent) => boolean {
  let isBegun = false
  return ({ type, payload }) => {
    const isStart = isBegun && type === 'notifications.count'
    isBegun = type === 'stream.ready' || type === 'stream.reset'
    // `conversation.unread` counts messages.
    if ('unread' in payload && !('conversation_id' in payload)) inbox.set(payload)
    return isStart
  }
}

interface Listener {
  set(connection: Connection): void
  onUser(user: User): void
  onEvent(event: ConversationStreamEvent): void
}

/**
 * Follows the stream until the user is signed out, or `signal` aborts: nothing is reported after that.
 *
 * A stream also ends when the user signs out elsewhere: if this browser still has a session of the user, it continues.
 */
async function follow(client: StoreClient, signal: AbortSignal, listener: Listener): Promise<void> {
  const set = (next: Connection) => signal.aborted || listener.set(next)
  const on_disconnect = (retry_ms: number) => set({ status: 'offline', retry_at: Date.now() + retry_ms })
  const waitOffline = (retry_ms: number) => {
    on_disconnect(retry_ms)
    return pause(retry_ms, signal)
  }
  const on_silence = () => set({ status: 'connecting', error: new Error(SILENT) })
  const backoff = createBackoff()
  let user_id: string | undefined
  set({ status: 'connecting' })
  try {
    for (;;) {
      const user = await readUser(client, signal, waitOffline)
      if (signal.aborted) return
      // The page of another user begins with `restart`.
      if (user_id !== undefined && user.id !== user_id) break
      user_id = user.id
      listener.onUser(user)
      for await (const { event } of client.events.followAll({ signal, on_disconnect, on_silence })) {
        if (signal.aborted) return
        if (event.type === 'stream.ready') set({ status: 'online' })
        listener.onEvent(event)
      }
      if (signal.aborted) return
      await waitOffline(backoff.next())
    }
    set({ status: 'ended' })
  } catch (error) {
    const isSignedOut = user_id !== undefined && (error as { code?: string }).code === 'unauthenticated'
    set({ status: 'ended', ...(!isSignedOut && { error }) })
  }
}

export function deliver(followers: ReadonlySet<Follower>, event: ConversationStreamEvent): void {
  for (const follower of [...followers]) {
    // A place that was lost is reported twice, as "not resumed" and as a reset.
    if (event.type !== 'stream.ready') follower.apply?.(event)
    else if (event.payload.resumed) follower.resume?.()
    else follower.load?.()
  }
}

/** Tries until the service is reached. */
async function readUser(client: StoreClient, signal: AbortSignal, wait: (ms: number) => Promise<void>): Promise<User> {
  const backoff = createBackoff()
  for (;;) {
    try {
      return (await client.auth.me({ signal })).user
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error
      await wait(backoff.next())
    }
  }
}
