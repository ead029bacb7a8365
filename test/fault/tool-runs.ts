import { hasEnded } from '../../lib/chat/answers/rules-calls.ts'
import type { ToolState } from '../../lib/chat/answers/schema-parts.ts'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'

/** An answer with tools, as a reader of the stream knows it. */
interface Run {
  /** The states of its calls, by their parts. */
  calls: Map<number, ToolState>
  isOver: boolean
  /** Set from a kill until its next row or its end: when the kill was. */
  killed_at?: number | undefined
}

/** The answers with tools of a conversation, and how long kills have held them up. */
export interface Runs {
  onEvent(event: ConversationStreamEvent): void
  /** A process was killed: those that go on by themselves are timed until their next row. */
  onKill(): void
  /** Times none any more. */
  forgetKills(): void
  /** Whether one is still timed. */
  areHeldUp(): boolean
  /** The longest time until the next row, so far. */
  longest_ms(): number
  isOver(message_id: string): boolean
  open(): string[]
  ids(): string[]
}

/** Follows the answers by the events of their conversation. */
export function createRuns(): Runs {
  const runs = new Map<string, Run>()
  let longest = 0

  function goesOn(message_id: string): Run | undefined {
    const run = runs.get(message_id)
    if (run?.killed_at !== undefined) longest = Math.max(longest, performance.now() - run.killed_at)
    if (run) run.killed_at = undefined
    return run
  }

  return {
    onEvent({ type, payload }) {
      if (type === 'message.new' && payload.message.role === 'assistant')
        runs.set(payload.message.id, { calls: new Map(), isOver: false })
      if (type === 'message.delta') goesOn(payload.id.slice(0, payload.id.indexOf(':')))
      if (type === 'message.part') {
        const { id, state } = payload.part
        const run = goesOn(payload.message_id)
        if (state) run?.calls.set(id, state)
      }
      if (type === 'message.done') Object.assign(goesOn(payload.message_id) ?? {}, { isOver: true })
    },
    onKill() {
      for (const run of runs.values()) if (!run.isOver && !isWaiting(run)) run.killed_at ??= performance.now()
    },
    forgetKills() {
      for (const run of runs.values()) run.killed_at = undefined
    },
    areHeldUp: () => [...runs.values()].some(({ killed_at }) => killed_at !== undefined),
    longest_ms: () => longest,
    isOver: (message_id) => runs.get(message_id)?.isOver ?? false,
    open: () => [...runs].flatMap(([id, { isOver }]) => (isOver ? [] : id)),
    ids: () => [...runs.keys()],
  }
}

/** Whether participants decide on all calls that are left. */
function isWaiting({ calls }: Run): boolean {
  const open = [...calls.values()].filter((state) => !hasEnded(state))
  return open.length > 0 && open.every((state) => state === 'waiting')
}
