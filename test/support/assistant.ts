import type { AnswerPiece, Assistant, AssistantRequest } from '../../lib/assistant/provider.ts'
import type { Chat } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { innerState } from './service.ts'

/** Ages the leases of all answers by a number of seconds. */
export async function ageLeases(chat: Chat, seconds: number): Promise<void> {
  await innerState(chat).db.run(
    sql`UPDATE answers_under_way SET lease_expires_at = lease_expires_at - ${seconds * 1_000_000}`,
  )
}

/** An answer in progress, controlled by the test. */
export interface Answer {
  request: AssistantRequest
  say(...pieces: AnswerPiece[]): void
  end(): void
  fail(error: unknown): void
  /** Resolves when the answer is aborted. */
  aborted: Promise<void>
}

/** An assistant controlled by the test: each question becomes an {@link Answer}, which writes nothing by itself. */
export function createPuppet(): { assistant: Assistant; asked(): Promise<Answer> } {
  const waiting: ((answer: Answer) => void)[] = []
  const unseen: Answer[] = []

  async function* assistant(request: AssistantRequest): AsyncGenerator<AnswerPiece> {
    const steps: (() => AnswerPiece | undefined)[] = []
    let wake = () => {}
    const add = (step: () => AnswerPiece | undefined) => {
      steps.push(step)
      wake()
    }
    const answer: Answer = {
      request,
      say: (...pieces) => {
        for (const piece of pieces) add(() => piece)
      },
      end: () => add(() => undefined),
      fail: (error) =>
        add(() => {
          throw error
        }),
      aborted: new Promise((resolve) => request.signal.addEventListener('abort', () => resolve())),
    }
    const next = waiting.shift()
    if (next) next(answer)
    else unseen.push(answer)
    for (;;) {
      const step = steps.shift()
      if (step) {
        const piece = step()
        if (piece === undefined) return
        yield piece
      } else await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    assistant,
    asked: () => {
      const seen = unseen.shift()
      return seen ? Promise.resolve(seen) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}
