import type { Command, CommandCall } from '../../api/client-entities.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import { createCache } from './cache.ts'
import { type Cell, createCell, type Readable } from './cell.ts'
import type { ChatStore, Reloadable } from './index.ts'
import type { Loading } from './resource.ts'

/** The commands of the bots in a conversation. */
export interface CommandsView extends Loading {
  commands: readonly Command[]
}

/** A call of a command that its program has not answered. */
export interface PendingCall {
  /** The `Idempotency-Key`. */
  key: string
  /** The program. */
  bot_id: string
  /** The name of the command. */
  name: string
  /** The thread in which it is called. */
  root_id?: string
  /** `unanswered` once ten seconds have passed without an answer, which may still come. */
  status: 'waiting' | 'unanswered'
}

/** The commands of conversations, and the user's own calls of them. */
export interface StoreCommands {
  /** The commands that may be called in a conversation. What a bot sets later is read with `reload`. */
  list(conversation_id: string): Reloadable<CommandsView>
  /** The user's calls without an answer there, oldest first: of this page, for 15 minutes at most. */
  calls(conversation_id: string): Readable<readonly PendingCall[]>
  /**
   * Calls a command, and shows the call until its program posts an answer or a notice that names it.
   *
   * @returns the id of the call
   * @throws ChatError as `client.commands.invoke`; then it is not shown
   */
  invoke(conversation_id: string, call: CommandCall): Promise<string>
  /** Shows a call no more. @param key that of the call */
  discard(conversation_id: string, key: string): void
}

/** The commands part of a store: the same at each call. */
export function commandsOf(store: ChatStore): StoreCommands {
  return partOf(store, createCommands)
}

/** The calls in a conversation. */
export type CallsCell = Cell<readonly PendingCall[]>

/** Calls a command, and keeps the call in a cell until it is answered. */
export type Invoke = (cell: CallsCell, conversation_id: string, call: CommandCall) => Promise<string>

function createCommands({ client, feed, resources }: StoreBase): StoreCommands {
  const lists = resources<Pick<CommandsView, 'commands'>, CommandsView>((id) => ({
    initial: { commands: [] },
    read: () => client.commands.list(id),
    fold: (data, event) => (isCause(event, id, data.commands) ? 'stale' : data),
    view: ({ commands }, loading) => ({ ...loading, commands }),
  }))
  const calls = createCache((): CallsCell => createCell<readonly PendingCall[]>([]))
  let loading: Promise<Invoke> | undefined
  // Loaded with the first call, and again after a failure.
  const load = () => {
    loading ??= import('./command-calls.ts').then(({ createInvoking }) => createInvoking(client, feed))
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }
  return {
    list: lists.get,
    calls: calls.get,
    invoke: async (conversation_id, call) => (await load())(calls.get(conversation_id), conversation_id, call),
    discard(conversation_id, key) {
      const cell = calls.get(conversation_id)
      cell.set(cell.getSnapshot().filter((each) => each.key !== key))
    },
  }
}

/** Whether an event may change which commands there are: a bot joins, leaves or has another name. */
function isCause({ type, payload }: ConversationStreamEvent, id: string, commands: readonly Command[]): boolean {
  if (type === 'membership.changed') return payload.conversation_id === id
  return type === 'user.updated' && commands.some(({ bot }) => bot.id === payload.user.id)
}
