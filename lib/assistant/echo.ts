import { setTimeout as pause } from 'node:timers/promises'
import type { Assistant, Turn } from './provider.ts'

/** Slow enough to be visible as a stream. */
const PAUSE_MS = 30

/** A long answer is faster, since a longer wait shows nothing new. */
const MAX_ANSWER_MS = 2_000

/** With more chunks, the pauses would be shorter than timers are exact. */
const MAX_PIECES = 200

/** Repeats the prompt, word by word: for a first try and for tests, without a model. */
export function createEcho(): Assistant {
  return async function* echo({ turns, signal, purpose }) {
    // What the conversation is about, in its first words.
    const prompt = textOf(turns.at(purpose === 'title' ? 0 : -1)!)
    const { pieces, pause_ms } = toPieces(prompt)
    for (const [index, piece] of pieces.entries()) {
      // Only an abort rejects it, which also clears its timer.
      if (index > 0) await pause(pause_ms, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      yield piece
    }
    const prompt_tokens = turns.reduce((sum, { content }) => sum + countWords(content), 0)
    const completion_tokens = countWords(prompt)
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    yield { finish_reason: 'stop', usage }
  }
}

/** What a user has written, without the name before it. */
function textOf({ content, name }: Turn): string {
  return name === undefined ? content : content.slice(`${name}: `.length)
}

/** Words with the white space after them, several per chunk for a long text; joined they are `text`. */
export function toPieces(text: string): { pieces: string[]; pause_ms: number } {
  const words = text.match(/\S+\s*|\s+/g) ?? []
  const size = Math.ceil(words.length / MAX_PIECES)
  const count = Math.ceil(words.length / size) || 0
  const pieces = Array.from({ length: count }, (_, i) => words.slice(i * size, (i + 1) * size).join(''))
  return { pieces, pause_ms: Math.min(PAUSE_MS, MAX_ANSWER_MS / count) }
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}
