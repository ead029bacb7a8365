import { onTestFinished } from 'vitest'
import { type AdminClient, createAdminClient } from '../../../lib/client/admin.ts'
import { type ChatStore, createChatStore, type Readable } from '../../../lib/client/store/index.ts'
import { isEventStream } from '../../../lib/core/sse-format.ts'
import { createChatApp } from '../../../lib/http/app.ts'
import { createTestChat, type TestChat, type TestChatOptions } from '../../../lib/testing/index.ts'
import { signedInFetch } from '../../../lib/testing/signed-in-fetch.ts'

/** A network between a client and the service that fails when the test wants it to. */
export interface Network {
  fetch: typeof fetch
  /** Breaks the open streams. */
  cut(): void
  /** While it is set, no request arrives, and no stream begins whose request has arrived before. */
  isOffline: boolean
  /** The next stream resumes from an id that the service does not know. */
  forget(): void
  /** Called before each request, with its method and path: what it returns is awaited. */
  before: (call: string) => unknown
  /** The same after the service has responded. */
  after: (call: string) => unknown
  /** The requests so far, as method and path. */
  calls: string[]
}

export function createNetwork(send: typeof fetch): Network {
  const open = new Set<() => void>()
  let isForgetful = false
  const network: Network = {
    isOffline: false,
    calls: [],
    before: () => {},
    after: () => {},
    cut() {
      for (const cut of [...open]) cut()
    },
    forget() {
      isForgetful = true
    },
    async fetch(input, init) {
      const call = `${init?.method} ${new URL(String(input)).pathname}`
      network.calls.push(call)
      await network.before(call)
      if (network.isOffline) throw new TypeError('fetch failed')
      const headers = new Headers(init?.headers)
      if (isForgetful && headers.has('last-event-id')) {
        headers.set('last-event-id', '00000000000000ff.1')
        isForgetful = false
      }
      const response = await send(input, { ...init, headers })
      await network.after(call)
      if (!isEventStream(response) || !response.body) return response
      if (network.isOffline) {
        await response.body.cancel()
        throw new TypeError('fetch failed')
      }
      return new Response(breakable(response.body, open), { headers: response.headers })
    },
  }
  return network
}

/** The bytes of a stream until it is cut, at any point of an event. */
function breakable(body: ReadableStream<Uint8Array>, open: Set<() => void>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    start(controller) {
      const cut = () => {
        open.delete(cut)
        void reader.cancel().catch(() => {})
        controller.error(new TypeError('terminated'))
      }
      open.add(cut)
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      try {
        if (done || !value) controller.close()
        else controller.enqueue(value)
      } catch {
        // It was cut meanwhile.
      }
    },
    cancel: () => reader.cancel(),
  })
}

/** A service in memory; `ada` reads it through a store over a network that fails on demand. */
export async function startWorld(options: TestChatOptions = {}) {
  const test = await createTestChat({ users: ['ada', 'grace'], ...options })
  const { network, client, store, signIn } = connect(test, 'ada')
  onTestFinished(async () => {
    store.close()
    await test.close()
  })
  return { ...test, network, ada: client, grace: test.client('grace'), store, signIn }
}

/** A client of a user, and a store on it. */
export function connect(test: TestChat, name: string) {
  const app = createChatApp(test.chat, { addressOf: () => '127.0.0.1' })
  const send: typeof fetch = async (input, init) => app.fetch(new Request(input, init))
  let signedIn = signedInFetch(test.chat, test.actor(name), send)
  const network = createNetwork((input, init) => signedIn(input, init))
  const client: AdminClient = createAdminClient({ base_url: 'http://chat.test', fetch: network.fetch, retry_ms: 1 })
  const store: ChatStore = createChatStore(client, { refresh_ms: 5 })
  /** The page has the session of another user from now on, as after a sign-in in this browser. */
  const signIn = (other: string) => {
    signedIn = signedInFetch(test.chat, test.actor(other), send)
  }
  return { network, client, store, signIn }
}

/** Waits for a snapshot that passes. */
export async function waitForView<T>(part: Readable<T>, isReached: (snapshot: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const look = () => {
      if (!isReached(part.getSnapshot())) return
      stop()
      resolve(part.getSnapshot())
    }
    const stop = part.subscribe(look)
    queueMicrotask(look)
  })
}

/** Ada's store in a conversation of Grace, with a thread. */
export async function startThread(options?: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(options)
  const { conversation_id } = await world.grace.conversations.create({ title: 'Engines' })
  await world.grace.participants.add(conversation_id, { user_id: world.actor('ada').user_id })
  const { root_id } = await world.grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
  const thread = world.store.thread(root_id)
  return { ...world, conversation_id, root_id, thread, reply: { conversation_id, root_id, parent_id: root_id } }
}

export const isReady = ({ status }: { status: string }) => status === 'ready'
export const textsOf = (messages: readonly { content: string }[]) => messages.map(({ content }) => content)
