import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient, Message } from '../../lib/client/index.ts'
import type { Upstream } from './upstream.ts'

/** The maximum time until an answer of a dead process is ended. */
const END_MS = 15_000

const POLL_MS = 50

/** The answers in a thread, once all of them have ended, or at the timeout. */
export async function untilEnded(
  client: ChatClient,
  root_id: string,
  killed: number,
  limit_ms = END_MS,
): Promise<Message[]> {
  const messages = await untilWritten(client, root_id, {
    killed,
    limit_ms,
    isMeant: ({ role }) => role === 'assistant',
  })
  return messages.filter(({ role }) => role === 'assistant')
}

/** The messages in a thread, once none of those that are meant is being written, or at the timeout. */
export async function untilWritten(
  client: ChatClient,
  root_id: string,
  {
    killed,
    limit_ms = END_MS,
    isMeant = () => true,
  }: { killed: number; limit_ms?: number; isMeant?: (message: Message) => boolean },
): Promise<Message[]> {
  for (;;) {
    const { messages } = await client.threads.tree(root_id, { limit: 500 })
    const isOver = messages.filter(isMeant).every(({ status }) => status !== 'streaming')
    if (isOver || performance.now() - killed > limit_ms) return messages
    await sleep(POLL_MS)
  }
}

/** The errors of an answer that a crash has ended, compared with the model server's text. */
export async function faultsIn(client: ChatClient, answer: Message, upstream: Upstream): Promise<string[]> {
  const { id: message_id, prompt = '', status, content } = answer
  const chunks = await client.answers.listChunks(message_id, { limit: 1000 })
  // The process may have been killed before it asked.
  const { text, call } = upstream.to(prompt) ?? { text: '' }
  const isWhole = status === 'complete' && prompt.endsWith('short')
  const checks: [holds: boolean, fault: string][] = [
    [isWhole || status === 'interrupted', `is ${status}`],
    [chunks.every(({ idx }, index) => idx === index), `has chunks ${chunks.map(({ idx }) => idx)}`],
    [chunks.map((chunk) => chunk.content).join('') === content, 'is not what its chunks are'],
    [isWhole ? text === content : text.startsWith(content), 'is not what was said'],
    [call?.response.destroyed ?? true, 'is still being said'],
  ]
  return checks.filter(([holds]) => !holds).map(([, fault]) => `the answer ${prompt} ${message_id} ${fault}`)
}

/** The answers that a reader did not receive as they are, or without exactly one end. */
export function differencesIn(log: Map<number, string>, answers: Message[]): string[] {
  const notes = [...log.values()]
  const texts = new Map<string, string>()
  for (const note of notes) {
    const [, id, text] = /^([\w-]+):\d+ (.*)$/s.exec(note) ?? []
    if (id !== undefined) texts.set(id, (texts.get(id) ?? '') + text)
  }
  return answers.flatMap(({ id, content, finish_reason }) => {
    const ends = notes.filter((note) => note.startsWith(`message.done ${id} `))
    return [
      ...((texts.get(id) ?? '') === content
        ? []
        : [`the answer ${id} was told as ${texts.get(id)}, not as ${content}`]),
      ...(ends.join() === `message.done ${id} ${finish_reason}` ? [] : [`the answer ${id} ended as ${ends}`]),
    ]
  })
}
