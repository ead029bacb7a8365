import type { Approval } from '../../api/client-entities.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { AssistantChatView, LoadedChat, QuestionOptions } from './assistant.ts'
import type { StoreBase } from './base.ts'
import type { ChatStore, MessagesView, NewPost, TimelineStoreMessage } from './index.ts'
import type { Loading } from './resource.ts'

/** More than may wait in a conversation. */
const MAX_APPROVALS = 200

/** The calls of tools that wait for a decision. */
interface ApprovalsView extends Loading {
  approvals: readonly Approval[]
}

/** The talks with assistants in the conversations of a store. */
export function createAssistantChats({ client, feed, resources }: StoreBase) {
  const waiting = resources<Pick<ApprovalsView, 'approvals'>, ApprovalsView>((conversation_id) => ({
    initial: { approvals: [] },
    async read() {
      const { approvals } = await client.approvals.list({ conversation_id, state: 'waiting', limit: MAX_APPROVALS })
      return { approvals: approvals.toReversed() }
    },
    fold: (data, event) => foldApprovals(data, event, conversation_id),
    view: (data, loading) => ({ ...loading, ...data }),
  }))

  return (store: ChatStore, conversation_id: string): LoadedChat => {
    const window = store.conversation(conversation_id, { view: 'all' })
    const approvals = waiting.get(conversation_id)
    const getSnapshot = memoized(
      (): Parameters<typeof viewOf> => [window.getSnapshot(), approvals.getSnapshot().approvals, feed.userId()],
      viewOf,
    )
    const shown = () => getSnapshot().messages
    const post = (question: Omit<NewPost, 'conversation_id'>) =>
      store.post({ ...question, conversation_id, role: 'assistant' })

    // Unknown names reach the store, which refuses them.
    async function send(content: string, { parent_id, ...more }: QuestionOptions = {}) {
      const parent = parent_id === undefined ? lastAnswer(shown()) : find(shown(), parent_id)
      const { root_id, id = parent_id ?? undefined } = parent ?? {}
      const posted = await post({ ...more, content, parent_id: id, root_id })
      const deep = posted ? undefined : shown().findLast(isTooDeep)
      if (!deep || parent_id !== undefined) return posted
      // The next thread goes on where one has no room.
      store.discard(deep.pending!.key)
      return post({ ...more, content })
    }

    return {
      getSnapshot,
      subscribe(listener) {
        const stops = [window, approvals, store.me].map((part) => part.subscribe(listener))
        return () => {
          for (const stop of stops) stop()
        }
      },
      send,
      async stop() {
        const running = shown().filter((message) => isOwnRunning(message, feed.userId()))
        await Promise.all(running.map(({ id }) => client.answers.cancel(id)))
      },
      async regenerate({ message_id, content, ...more } = {}) {
        const answer = message_id === undefined ? lastAnswer(shown(), feed.userId()) : find(shown(), message_id)
        if (!answer) throw new Error('There is no answer that has ended: regenerate one that is shown')
        const { id, parent_id, root_id, variant_of = id, prompt = '' } = answer
        const place = parent_id === undefined ? {} : { parent_id, root_id }
        return post({ ...more, ...place, variant_of, content: content ?? prompt })
      },
      async decide(call_id, decision) {
        const { approval } = await client.approvals.decide(call_id, decision)
        const { conversation_id: id } = approval
        waiting.peek(id)?.update(({ approvals: before }) => ({ approvals: withApproval(before, approval) }))
      },
      loadOlder: window.loadOlder,
    }
  }
}

/** What a function makes of some values: the same until one of them changes. */
function memoized<Inputs extends unknown[], View>(read: () => Inputs, make: (...inputs: Inputs) => View): () => View {
  let last: { inputs: Inputs; view: View } | undefined
  return () => {
    const inputs = read()
    if (!last || inputs.some((input, n) => !Object.is(input, last!.inputs[n]))) last = { inputs, view: make(...inputs) }
    return last.view
  }
}

function viewOf(
  { status, error, messages: all, has_older }: MessagesView,
  approvals: readonly Approval[],
  user_id: string,
): AssistantChatView {
  const messages = latestAnswers(all)
  const place = { messages, has_older, approvals }
  if (status !== 'ready') return { status, ...(error !== undefined && { error }), ...place }
  const failed = messages.at(-1)?.pending?.error ?? error
  return { status: statusOf(messages, user_id), ...(failed !== undefined && { error: failed }), ...place }
}

function statusOf(messages: readonly TimelineStoreMessage[], user_id: string): AssistantChatView['status'] {
  if (messages.some(({ pending }) => pending?.status === 'sending')) return 'sending'
  const running = messages.filter((message) => isOwnRunning(message, user_id))
  if (running.some(({ status }) => status === 'streaming')) return 'streaming'
  if (running.length > 0) return 'waiting'
  const last = messages.at(-1)
  return last?.pending || (last?.role === 'assistant' && last.status === 'failed') ? 'failed' : 'ready'
}

/** The messages without earlier answers to a question, and without what follows those. */
function latestAnswers(messages: readonly TimelineStoreMessage[]): readonly TimelineStoreMessage[] {
  const latest = new Map<string, TimelineStoreMessage>()
  for (const message of messages) {
    const { id, variant_of = id, deleted_at, role } = message
    if (role === 'assistant' && (!deleted_at || !latest.has(variant_of))) latest.set(variant_of, message)
  }
  const dropped = new Set<string>()
  const kept = messages.filter((message) => {
    const { id, variant_of = id, parent_id = '', role } = message
    if (!dropped.has(parent_id) && (role !== 'assistant' || latest.get(variant_of) === message)) return true
    dropped.add(id)
    return false
  })
  return kept.length < messages.length ? kept : messages
}

const find = (messages: readonly TimelineStoreMessage[], message_id: string | null) =>
  messages.find(({ id }) => id === message_id)

/** The last answer that has ended. @param user_id only one that this user has asked for */
function lastAnswer(messages: readonly TimelineStoreMessage[], user_id?: string): TimelineStoreMessage | undefined {
  return messages.findLast(
    (message) =>
      message.role === 'assistant' &&
      !isUnderWay(message) &&
      !message.deleted_at &&
      (user_id === undefined || message.requested_by === user_id),
  )
}

function isOwnRunning(message: TimelineStoreMessage, user_id: string): boolean {
  const { role, pending, deleted_at, requested_by } = message
  return role === 'assistant' && !pending && !deleted_at && isUnderWay(message) && requested_by === user_id
}

const isTooDeep = ({ pending }: TimelineStoreMessage): boolean =>
  (pending?.error as { code?: string } | undefined)?.code === 'thread_too_deep'

/** The calls with one as it is now: once it is decided on, it waits no more. */
function withApproval(approvals: readonly Approval[], approval: Approval): readonly Approval[] {
  const now = approval.state === 'waiting' ? [approval] : []
  return approvals.flatMap((each) => (each.call_id === approval.call_id ? now : each))
}

type Approvals = Pick<ApprovalsView, 'approvals'>

function foldApprovals(data: Approvals, { type, payload }: ConversationStreamEvent, id: string): Approvals | 'stale' {
  if (type === 'approval.changed') {
    const { approval } = payload
    if (approval.conversation_id !== id) return data
    // It does not have whether the user may decide.
    return approval.state === 'waiting' ? 'stale' : { approvals: withApproval(data.approvals, approval) }
  }
  if (type === 'rights.changed') return (payload.conversation_id ?? id) === id ? 'stale' : data
  return type === 'membership.changed' && payload.conversation_id === id ? 'stale' : data
}
