import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatClient, createChatClient } from '../../../lib/client/index.ts'
import { createUsers, type Service, serviceTarget, signInParticipants } from '../servers/service.ts'
import { createFailure } from './failure.ts'
import { marker } from './marker.ts'
import { openReaders } from './reader.ts'

/** The load: concurrent answers, and the number of their readers. */
export interface AnswerLoad {
  answers: number
  readers: number
  /** The tokens per second of each answer. */
  tokens: number
}

/** The maximum number of answers in progress per user. */
const ANSWERS_PER_USER = 3

/** Has as many users as it takes to ask for so many answers; the first is the service's own. */
export async function clientsFor(service: Service, answers: number): Promise<ChatClient[]> {
  const others = await createUsers(service, Math.ceil(answers / ANSWERS_PER_USER) - 1)
  const sessions = [service.headers, ...(await signInParticipants(service, others))]
  return sessions.map((headers) => clientOf(service, headers))
}

/** The minimum share of the model's tokens that must be delivered for a valid round. */
const MIN_SHARE = 0.9

/** How long the last tokens may take to reach the readers. */
const DRAIN_MS = 4_000

/**
 * Runs `work` while answers stream to readers, then stops them.
 *
 * @param clients ask in turn; the first one's user owns the conversation
 *
 * @throws Error when the answers did not keep pace with the model, or not each reader got each token that is stored
 */
export async function whileAnswering<T>(
  service: Service,
  clients: ChatClient[],
  load: AnswerLoad,
  work: () => Promise<T>,
): Promise<T> {
  const { fail, or } = createFailure()
  const client = clients[0]!
  const on = { marker: countOne, lost: fail }
  const readers = await or(openReaders(service.port, serviceTarget(service).steps, load.readers, on))
  const least = () => Math.min(...readers.map(({ position }) => position))
  try {
    const asked = await Promise.all(
      Array.from({ length: load.answers }, (_, n) =>
        clients[n % clients.length]!.messages.postRoot(service.conversationId, { content: 'Go on', role: 'assistant' }),
      ),
    )
    const before = { tokens: least(), at: performance.now() }
    const value = await or(work())
    const seconds = (performance.now() - before.at) / 1000
    const expected = load.tokens * seconds * MIN_SHARE
    const delivered = least() - before.tokens
    if (delivered < expected * load.answers)
      throw new Error(`a reader got ${delivered} tokens in ${seconds.toFixed(1)} s`)

    await Promise.all(asked.map(({ message_id }) => client.answers.cancel(message_id)))
    const stored = await Promise.all(
      asked.map(async ({ message_id }) => countTokens(await client.messages.get(message_id))),
    )
    if (Math.min(...stored) < expected) throw new Error(`an answer has only ${Math.min(...stored)} tokens`)
    const all = stored.reduce((sum, count) => sum + count)
    await or(until(() => least() >= all))
    if (readers.some(({ position }) => position !== all)) throw new Error('a reader got a token too many')
    return value
  } finally {
    for (const { socket } of readers) socket.destroy()
  }
}

/** A client in a session that there is. */
export function clientOf({ port }: Service, headers: Record<string, string>): ChatClient {
  return createChatClient({
    base_url: `http://127.0.0.1:${port}`,
    fetch: (url, init) => {
      const sent = new Headers(init?.headers)
      for (const [name, value] of Object.entries(headers)) sent.set(name, value)
      return fetch(url, { ...init, headers: sent })
    },
  })
}

function countOne(reader: { position: number }): void {
  reader.position++
}

/** How many tokens an answer has: all that the model said, in order, up to the last one. */
function countTokens({ content, status }: { content: string; status: string }): number {
  const count = content.length / marker(0).length
  const isWhole = content === Array.from({ length: count }, (_, number) => marker(number)).join('')
  if (status !== 'cancelled' || !isWhole) throw new Error(`an answer is ${status}, or lacks a token`)
  return count
}

/** Waits for something that ends within {@link DRAIN_MS}. @throws Error if it does not */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + DRAIN_MS
  while (!holds()) {
    if (performance.now() > end) throw new Error('a token that is stored did not reach every reader')
    await sleep(5)
  }
}
