import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf } from '../../chat/answers/rules-context.ts'
import type { AnswerPiece, AssistantRequest, Turn } from '../provider.ts'
import { CallFailure } from './failures.ts'

/** The pauses before a call is repeated, in milliseconds. */
const PAUSES_MS: readonly number[] = [500, 2_000]

/** A server that asks for a longer one is not called again. */
const MAX_PAUSE_SECONDS = 30

/** What a model server says, in pieces. */
export type Said = Exclude<AnswerPiece, string>

/** One call of a model server. */
type Call = (request: AssistantRequest) => AsyncIterable<Said>

/**
 * Calls a server until it answers. As long as nothing of the answer has arrived, a call is repeated that may succeed the next
 * time, and once with half of the turns if they were too long for the model.
 *
 * @throws the last failure; nothing once the signal of the request has aborted
 */
export async function* withAttempts(
  call: Call,
  request: AssistantRequest,
  pauses_ms = PAUSES_MS,
): AsyncGenerator<Said> {
  const { signal } = request
  const pauses = [...pauses_ms]
  let turns = request.turns
  for (;;) {
    let isBegun = false
    try {
      for await (const piece of call({ ...request, turns })) {
        isBegun ||= isOutput(piece)
        yield piece
      }
      return
    } catch (error) {
      if (signal.aborted) return
      if (isBegun || !(error instanceof CallFailure)) throw error
      if (error.remedy === 'fewer-turns') {
        const fewer = turns === request.turns ? halve(turns) : turns
        if (fewer.length === turns.length) throw error
        turns = fewer
        continue
      }
      const pause = pauses.shift()
      const { after_seconds = 0 } = error.remedy
      if (pause === undefined || after_seconds > MAX_PAUSE_SECONDS) throw error
      await sleep(after_seconds > 0 ? after_seconds * 1000 : pause, undefined, { signal }).catch(() => {})
    }
  }
}

/** Whether readers have got something that another call would say again. */
export const isOutput = (said: Said) => Object.keys(said).some((key) => key !== 'usage' && key !== 'finish_reason')

/** The newest turns of half the size; the system prompt and the question stay. */
export function halve(turns: readonly Turn[]): Turn[] {
  const isSystem = ({ role }: Turn) => role === 'system'
  const said = turns.filter((turn) => !isSystem(turn))
  let room = said.reduce((sum, turn) => sum + bytesOf(turn), 0) / 2
  const kept = new Set<Turn>()
  for (const turn of said.toReversed()) {
    room -= bytesOf(turn)
    if (room < 0 && kept.size > 0) break
    kept.add(turn)
  }
  return turns.filter((turn) => isSystem(turn) || kept.has(turn))
}
