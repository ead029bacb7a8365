import type { Context } from '../context.ts'
import { ChatError } from './errors.ts'

/** What a service can do: it takes calls from the end of its migration until it has closed. */
export interface Lifecycle {
  state: 'created' | 'starting' | 'started' | 'closed'
}

const REFUSALS: Record<Exclude<Lifecycle['state'], 'started'>, string> = {
  created: 'The service is not started: call "await chat.start()" first.',
  starting: 'The service is still starting: wait for "await chat.start()" before you call it.',
  closed: 'The service is closed: create another one, on another storage.',
}

/** @throws ChatError `unavailable` before the start and after the close, which names the call that is missing */
export function assertStarted({ lifecycle: { state } }: Pick<Context, 'lifecycle'>): void {
  if (state !== 'started') throw new ChatError('unavailable', { message: REFUSALS[state] })
}
