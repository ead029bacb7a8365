import { setTimeout as sleep } from 'node:timers/promises'
import type { Assistant } from '../../../lib/index.ts'
import { createAsking, together } from './assistant.ts'
import { libraryRows } from './library.ts'

const PIECES = 100

/** The time between two pieces: several are stored together. */
const PAUSE_MS = 10

const TEXT = 'text'
const REASONING = 'reasoning'

/** Says as much in each piece, as text or as reasoning. */
const assistant: Assistant = async function* ({ turns }) {
  const isReasoning = turns.at(-1)!.content === REASONING
  for (let n = 0; n < PIECES; n++) {
    yield isReasoning ? { reasoning: 'So it is. ' } : 'So it is. '
    await sleep(PAUSE_MS)
  }
  if (isReasoning) yield 'Yes.'
}

/** What pieces of a part that is no text cost, each of which changes the part in the streams. */
export const answerParts = libraryRows(
  [
    {
      name: 'answer-parts',
      title: `CPU of an answer of ${PIECES} pieces of reasoning`,
      peer: 'the same pieces as text',
      unit: 'ms',
      better: 'lower',
      reach: 1.5,
      beyond: 1.2,
    },
  ],
  async (room) => {
    const ask = createAsking(room, room.chat)
    const rounds = await room.compare(
      together(() => ask(REASONING)),
      together(() => ask(TEXT)),
    )
    const { messages } = await room.chat.threads.tree(room.author, await ask(REASONING), {})
    if (messages.at(-1)?.parts?.[0]?.type !== 'reasoning') throw new Error('the answers have no parts')
    return { 'answer-parts': rounds }
  },
  { ports: { assistant } },
)
