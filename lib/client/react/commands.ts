import { useMemo } from 'react'
import type { CommandCall } from '../../api/client-entities.ts'
import { type CommandsView, commandsOf, type NoticesView, noticesOf, type PendingCall } from '../store/parts.ts'
import { useChatStore } from './context.ts'
import { useReloadable } from './lists.ts'
import { useReadable } from './readable.ts'

/** The user's calls of commands, and how one is made. */
export interface CommandActions {
  /** The calls without an answer, oldest first: of this page. */
  calls: readonly PendingCall[]
  /**
   * Calls a command: `parseCommand` makes the call of what the user types.
   *
   * @returns the id of the call
   * @throws ChatError as `client.commands.invoke`
   */
  invoke: (call: CommandCall) => Promise<string>
  /** Shows a call without an answer no more. @param key `call.key` */
  discard: (key: string) => void
  /** Reads the commands again. */
  reload: () => Promise<void>
}

/** The commands of the bots in a conversation, and the user's calls that wait for an answer. */
export function useCommands(conversation_id: string): CommandsView & CommandActions {
  const { list, calls: callsIn, invoke, discard } = commandsOf(useChatStore())
  const view = useReloadable(list(conversation_id))
  const calls = useReadable(callsIn(conversation_id))
  return useMemo(
    () => ({
      ...view,
      calls,
      invoke: (call) => invoke(conversation_id, call),
      discard: (key) => discard(conversation_id, key),
    }),
    [view, calls, invoke, discard, conversation_id],
  )
}

/** The notices for the user alone in a conversation, and a function that dismisses one. */
export function useNotices(
  conversation_id: string,
): NoticesView & { dismiss: (notice_id: string) => Promise<void>; reload: () => Promise<void> } {
  const { list, dismiss } = noticesOf(useChatStore())
  const view = useReloadable(list(conversation_id))
  return useMemo(() => ({ ...view, dismiss }), [view, dismiss])
}
