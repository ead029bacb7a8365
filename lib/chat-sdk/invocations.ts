import { AsyncLocalStorage } from 'node:async_hooks'
import type { CommandInvocation } from '../api/client-entities.ts'
import type { ChatServerThreadId } from './thread-ids.ts'

/** What a post says of its place: the thread, and the call of a command that it answers. */
export interface AnsweredPlace {
  root_id?: string
  invocation_id?: string
}

/** The calls of commands whose handlers run. */
export interface Invocations {
  /** Runs a handler as that of a call. */
  run<T>(call: CommandInvocation, handler: () => T): T
  /** Where a post to this place goes: beside the call of a command, in its thread. */
  placeOf(place: ChatServerThreadId): AnsweredPlace
}

/** A handler posts to the channel of its command, which names no call: it is known by where the post comes from. */
export function createInvocations(): Invocations {
  const calls = new AsyncLocalStorage<CommandInvocation>()
  return {
    run: (call, handler) => calls.run(call, handler),
    placeOf({ conversation_id, root_id }) {
      const call = calls.getStore()
      const isHere = call?.conversation_id === conversation_id
      const thread = root_id ?? (isHere ? call.root_id : undefined)
      return {
        ...(thread !== undefined && { root_id: thread }),
        ...(isHere && { invocation_id: call.invocation_id }),
      }
    },
  }
}
