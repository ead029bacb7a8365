import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerPiece } from '../../../lib/assistant/provider.ts'
import { createRandom } from '../random.ts'

/** The questions whose answer is a long text: to its end, or without one. */
export const WRITES = ['write', 'endless'] as const

/** The longest pause before a piece. */
const MAX_PAUSE_MS = 40

/** What pieces are made of: text that a protocol could cut, join or escape wrongly. */
const WORDS = [
  'grüß ',
  '🥊',
  '👩‍👩‍👧 ',
  '\n\n',
  ' ',
  '\u2028',
  '"quoted" ',
  '\\n',
  'data: [DONE]\n\n',
  '&amp; ',
  'e\u0301',
  '\t',
]

/** Whether a question is one of {@link WRITES}. */
export function isWriting(question: string): boolean {
  return WRITES.some((kind) => question.startsWith(`${kind} `))
}

/** Writes the answer to one of {@link WRITES}: the same one each time. */
export async function* writingScript(question: string, signal: AbortSignal): AsyncGenerator<AnswerPiece> {
  for (const { pause_ms, piece } of listPieces(question)) {
    await sleep(pause_ms, undefined, { signal })
    yield piece
  }
}

/** The begin of the text of an answer, with at least so many UTF-16 units if it has as many. */
export function textOf(question: string, length = Number.POSITIVE_INFINITY): string {
  let text = ''
  for (const { piece } of listPieces(question)) {
    if (text.length > length) break
    if (typeof piece === 'string') text += piece
  }
  return text
}

function* listPieces(question: string): Generator<{ pause_ms: number; piece: AnswerPiece }> {
  const [kind, seed] = question.split(' ')
  const random = createRandom(Number(seed))
  const pieces = kind === 'endless' ? Number.POSITIVE_INFINITY : 20 + Math.floor(random() * 120)
  for (let n = 0; n < pieces; n++) {
    const words = Array.from({ length: Math.floor(random() * 6) }, () => WORDS[Math.floor(random() * WORDS.length)])
    yield { pause_ms: Math.floor(random() * MAX_PAUSE_MS), piece: pieceOf(n, words.join(''), random()) }
  }
}

function pieceOf(n: number, text: string, chance: number): AnswerPiece {
  if (chance < 0.05) return { reasoning: `${n} ${text}` }
  if (chance < 0.08) return { source: { url: `https://example.org/${n}`, title: `Source ${n}` } }
  if (chance < 0.11) return { data: { name: 'chart', data: { n } } }
  return `${n} ${text}`
}
