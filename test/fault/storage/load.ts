import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { seqOf, startFollowers } from '../followers.ts'
import { settle } from '../people.ts'

const WRITERS = 4
const PAUSE_MS = 10

/** The timeout of a response: longer than any timeout of the service. */
const TIMEOUT_MS = 60_000

/** Users who use a service all the time, and the responses they get. */
export interface Load {
  /** The acknowledged messages, by id, with their content. */
  acknowledged: Map<string, string>
  /** The failed posts, by status and code. */
  failed: Map<string, number>
  /** The failed reads, by status and code. */
  unread: Map<string, number>
  /** The longest time of a `/healthz` call since the last query. */
  stall(): number
  /** The number of failed posts. */
  failures(): number
  /** Waits until posts started after now are acknowledged. @returns the time of the first one */
  successes(count?: number): Promise<number>
  /** Whether the service reports itself as ready. */
  isReady(): Promise<boolean>
  /**
   * Ends all users, and checks the stored data.
   *
   * @param options.restarted whether the service was restarted, which closes streams
   * @returns the failures
   */
  finish(options?: { restarted?: boolean }): Promise<string[]>
}

/** Sets a service up and starts users who write, read and follow. A failed post is retried with its key. */
export async function startLoad(base_url: string): Promise<Load> {
  const { conversation_id, cookie } = await settle(base_url)
  const own = await cookie()
  const headers = {
    cookie: own,
    'x-csrf-token': /CSRF-TOKEN=([^;]+)/.exec(own)![1]!,
    'content-type': 'application/json',
  }
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(base_url + path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), ...init })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const post = (path: string, body: object, key: string) =>
    call(path, { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'idempotency-key': key } })

  const root = (await post(`/api/threads/${conversation_id}/root`, { content: 'root' }, randomUUID())).body.message
  const from = (await call(`/api/conversations/${conversation_id}`)).headers.get('stream-position')!
  const followers = startFollowers({ target: () => base_url, conversation_id, cookie: own, from, readers: 1 })

  const acknowledged = new Map<string, string>()
  const [failed, unread] = [new Map<string, number>(), new Map<string, number>()]
  let stopping = false
  let stall = 0
  let failures = 0
  const successes: { begun: number; ended: number }[] = []

  async function write(writer: number): Promise<void> {
    for (let n = 0; !stopping; n++) {
      // Its name at both ends, so that one of them is intact wherever the database cuts it.
      const [content, key] = [`${writer}/${n} ${'x'.repeat(300)} ${writer}/${n}.`, randomUUID()]
      for (;;) {
        const begun = performance.now()
        const answer = await attempt(() => post(`/api/messages/${root.id}/reply`, { content }, key))
        if (answer.status === 201) {
          acknowledged.set(answer.body.message_id, content)
          successes.push({ begun, ended: performance.now() })
          break
        }
        count(failed, answer)
        failures++
        await sleep(PAUSE_MS)
      }
      await sleep(PAUSE_MS)
    }
  }

  async function read(): Promise<void> {
    while (!stopping) {
      const answer = await attempt(() => call(`/api/threads/${root.id}/tree?limit=5`))
      if (answer.status !== 200) count(unread, answer)
      await sleep(PAUSE_MS)
    }
  }

  async function probe(): Promise<void> {
    while (!stopping) {
      const started = performance.now()
      await attempt(() => call('/healthz'))
      stall = Math.max(stall, performance.now() - started)
      await sleep(PAUSE_MS)
    }
  }

  const running = [...Array.from({ length: WRITERS }, (_, index) => write(index)), read(), probe()]

  async function lookAround(restarted: boolean): Promise<string[]> {
    const found = new Map<string, string>()
    for (let cursor = ''; ; ) {
      const { body } = await call(`/api/threads/${root.id}/tree?limit=500${cursor}`)
      for (const { id, content } of body.messages) found.set(id, content)
      if (!body.next_cursor) break
      cursor = `&cursor_path=${encodeURIComponent(body.next_cursor)}`
    }
    const twice = found.size - new Set(found.values()).size
    const position = (await call(`/api/conversations/${conversation_id}`)).headers.get('stream-position')!
    const told = await followers.finish(position)
    const messages = new Set(told.log.values())
    return [
      ...[...acknowledged].filter(([id, content]) => found.get(id) !== content).map(([id]) => `message ${id} is lost`),
      ...[...acknowledged.keys()].filter((id) => !messages.has(id)).map((id) => `message ${id} was in no stream`),
      ...(twice > 0 ? [`${twice} messages are there twice`] : []),
      ...(told.log.size === seqOf(position) - seqOf(from) ? [] : [`${told.log.size} events up to ${position}`]),
      ...(told.reconnects > 0 && !restarted ? [`the stream was closed ${told.reconnects} times`] : []),
      ...told.faults,
    ]
  }

  return {
    acknowledged,
    failed,
    unread,
    stall() {
      const longest = stall
      stall = 0
      return longest
    },
    failures: () => failures,
    async successes(count = 1) {
      const since = performance.now()
      const find = () => successes.filter(({ begun }) => begun > since)
      await waitUntil('posts are acknowledged', () => find().length >= count)
      return find()[0]!.ended - since
    },
    isReady: async () => (await attempt(() => call('/readyz'))).status === 200,
    async finish({ restarted = false } = {}) {
      stopping = true
      await Promise.all(running)
      return lookAround(restarted)
    },
  }
}

/** Waits until a condition holds, up to the timeout of a response. */
export async function waitUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`It took too long until ${what}`)
    await sleep(PAUSE_MS)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any route, looked into where it is known which.
type Answer = { status: number; body: any }

async function attempt(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send()
  } catch (error) {
    return { status: 0, body: { code: String((error as Error).cause ?? error) } }
  }
}

function count(counts: Map<string, number>, { status, body }: Answer): void {
  const what = `${status || 'no answer'} ${body.code}`
  counts.set(what, (counts.get(what) ?? 0) + 1)
}
