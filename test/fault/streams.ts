import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient, Message } from '../../lib/client/index.ts'
import { ChatError } from '../../lib/core/chat-error.ts'

/** A message that begins so has the host write another one, piece by piece. */
export const ASKS_HOST = 'The host writes '

/** How many pieces a text has. */
export const PIECES = 40

/** How often a call that got no answer is repeated: until the service is there again. */
const RETRY_MS = 50

/** A part of the text with a name. */
export const pieceOf = (name: string, n: number) => `${name}:${n}; `

export const wholeOf = (name: string) => Array.from({ length: PIECES }, (_, n) => pieceOf(name, n)).join('')

/** Writes a text by calls, each at the next of these services in turn, and repeats what got no answer. @returns its id */
export async function streamByCalls(bots: readonly ChatClient[], parent_id: string, name: string): Promise<string> {
  let turn = 0
  const call = async <T>(act: (bot: ChatClient) => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await act(bots[turn++ % bots.length]!)
      } catch (error) {
        const isRefused = error instanceof ChatError && !REPEATED.has(error.code)
        if (isRefused) throw error
        await sleep(RETRY_MS)
      }
    }
  }
  const begun = { stream: true as const, idempotency_key: `stream ${name}` }
  const { message_id } = await call((bot) => bot.messages.reply(parent_id, begun))
  for (let idx = 0; idx < PIECES; idx++) {
    const content = pieceOf(name, idx)
    const { status } = await call((bot) => bot.answers.addChunk(message_id, { idx, content }))
    if (status !== 'streaming') return message_id
  }
  await call((bot) => bot.answers.end(message_id, {}))
  return message_id
}

/** The refusals after which a call is made again. */
const REPEATED: ReadonlySet<string> = new Set(['rate_limited', 'unavailable'])

/** The errors of a text that was written while a process was killed. @param isWhole whether nothing may be missing */
export async function faultsOfText(client: ChatClient, message: Message, name: string, isWhole: boolean) {
  const { id, content, status } = message
  const chunks = await client.answers.listChunks(id, { limit: 1000 })
  const whole = wholeOf(name)
  const checks: [holds: boolean, fault: string][] = [
    [status === 'complete' || (!isWhole && status === 'interrupted'), `is ${status}`],
    [chunks.every(({ idx }, n) => idx === n), `has chunks ${chunks.map(({ idx }) => idx)}`],
    [chunks.map((chunk) => chunk.content).join('') === content, 'is not what its chunks are'],
    [status === 'complete' ? content === whole : whole.startsWith(content), `is ${content}`],
  ]
  return checks.filter(([holds]) => !holds).map(([, fault]) => `the text ${name} ${id} ${fault}`)
}
