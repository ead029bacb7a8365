import { FAILURES } from '../../chat/answers/schema-failures.ts'
import type { Written } from '../../chat/answers/service-rows.ts'
import type { CallPart } from './rules.ts'

/** The input of a call that its reader may see, as JSON. */
export const argumentsOf = ({ input }: Pick<CallPart, 'input'>): string => JSON.stringify(input ?? {})

/** A value as text: a text as it is, else as JSON. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Why an answer that is not complete has failed. */
export const failureText = (failure: Written['failure']): string =>
  failure ? FAILURES[failure] : 'The answer was interrupted.'

/** A state in which a call has no result any more. */
export type FailedState = keyof typeof ENDS

/** Whether a call has ended without a result. */
export const isFailedState = (state: CallPart['state']): state is FailedState => state in ENDS

/** Why a call has no result. */
export const callFailureText = ({ error }: Pick<CallPart, 'error'>, state: FailedState): string =>
  error?.message ?? ENDS[state]

/** How calls without a result have ended, where they say nothing else. */
const ENDS = {
  denied: 'The call was denied.',
  failed: 'The tool failed.',
  expired: 'No decision was made in time.',
  unknown: 'It is not known whether the call has happened.',
  cancelled: 'The call was cancelled.',
} as const
