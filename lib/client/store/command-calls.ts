import { newKey } from '../new-key.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { CallsCell, Invoke, PendingCall } from './commands.ts'
import type { Feed } from './feed.ts'
import type { StoreClient } from './types.ts'

/** After this time without an answer, a program is said not to have answered. */
const ANSWER_MS = 10_000

/** For as long a program may answer. */
const CALL_MS = 15 * 60_000

/** What is kept of a call that is shown. */
interface Waiting {
  cell: CallsCell
  conversation_id: string
  timers: ReturnType<typeof setTimeout>[]
}

/** A function that calls commands. It follows the stream while a call has no answer. */
export function createInvoking(client: StoreClient, feed: Feed): Invoke {
  const waiting = new Map<string, Waiting>()
  const close = () => {
    for (const key of [...waiting.keys()]) end(key)
  }
  let leave: (() => void) | undefined

  function end(key: string): void {
    const call = waiting.get(key)
    if (!call) return
    waiting.delete(key)
    for (const timer of call.timers) clearTimeout(timer)
    call.cell.set(call.cell.getSnapshot().filter((each) => each.key !== key))
    if (waiting.size > 0) return
    leave?.()
    leave = undefined
  }

  function change(key: string, status: PendingCall['status']): void {
    const { cell } = waiting.get(key)!
    cell.set(cell.getSnapshot().map((each) => (each.key === key ? { ...each, status } : each)))
  }

  function apply(event: ConversationStreamEvent): void {
    const answer = answerIn(event)
    if (answer?.invocation?.user_id !== feed.userId()) return
    const { bot_id, conversation_id, invocation } = answer
    // The answer does not have the id of the call: of equal ones it is taken for the first.
    for (const [key, call] of waiting) {
      if (call.conversation_id !== conversation_id) continue
      const isAnswered = call.cell
        .getSnapshot()
        .some((each) => each.key === key && each.bot_id === bot_id && each.name === invocation!.name)
      if (isAnswered) {
        end(key)
        return
      }
    }
  }

  return async (cell, conversation_id, call) => {
    const key = newKey()
    const { bot_id, name, root_id } = call
    const timers = [setTimeout(() => change(key, 'unanswered'), ANSWER_MS), setTimeout(() => end(key), CALL_MS)]
    for (const timer of timers) (timer as { unref?(): void }).unref?.()
    waiting.set(key, { cell, conversation_id, timers })
    leave ??= feed.join({ apply, reset: close, close })
    cell.set([...cell.getSnapshot(), { key, bot_id, name, ...(root_id && { root_id }), status: 'waiting' }])
    try {
      const { invocation_id } = await client.commands.invoke(conversation_id, call, {
        headers: { 'idempotency-key': key },
      })
      return invocation_id
    } catch (error) {
      end(key)
      throw error
    }
  }
}

/** What a program has written for a call, if the event has such a text. */
function answerIn({ type, payload }: ConversationStreamEvent) {
  if (type === 'message.new') {
    const { author_user_id: bot_id, conversation_id, invocation } = payload.message
    return { bot_id, conversation_id, invocation }
  }
  if (type !== 'notice.new') return undefined
  const { author_user_id: bot_id, conversation_id, invocation } = payload.notice
  return { bot_id, conversation_id, invocation }
}
