import { type CallMove, failed } from '../../chat/answers/calls.ts'
import type { CallFailureCode } from '../../chat/answers/rules-calls.ts'
import type { CallRow } from '../../chat/answers/store-calls.ts'
import type { Log } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { causeText } from '../../core/errors.ts'
import { fromStoredValue } from '../../core/stored-value.ts'
import { MAX_VALUE } from '../answer-parts.ts'
import type { SaveFile } from '../ask.ts'
import { toJsonText } from '../json-value.ts'
import { type ToolCall, ToolFailure } from '../tools/definition.ts'
import { OutcomeUnknown, OutputTooLarge, type Tool } from '../tools/tool.ts'
import { toResultParts } from './result-parts.ts'

/** A call that has started. */
export interface StartedCall {
  call: CallRow
  tool: Tool
  attempt: number
  /** The user who asked, with the rights of this moment. */
  actor: Actor
  user: ToolCall['user']
  assistant: string
  /** Aborts when the answer has ended, and when the service stops. */
  signal: AbortSignal
}

export interface ToolDeps {
  log: Log
  saveFile: SaveFile
}

/** Runs a tool and waits for its result, for as long as the tool may take. @returns `undefined` if the signal has aborted */
export async function runTool(deps: ToolDeps, started: StartedCall): Promise<CallMove | undefined> {
  const { call, tool, signal } = started
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(), tool.timeout_seconds * 1000)
  try {
    return await raceAborts([signal, control.signal], run(deps, started, AbortSignal.any([signal, control.signal])))
  } catch (error) {
    if (signal.aborted) return undefined
    const fails = (code: CallFailureCode, text?: string): CallMove => ({ call, act: 'fail', ...failed(code, text) })
    if (error instanceof ToolFailure) return fails('tool_error', error.message || undefined)
    deps.log.warn('A tool has failed', { call_id: call.id, tool: call.name, cause: causeText(error) })
    if (error instanceof OutputTooLarge) return fails('output_too_large')
    const isUnknown = control.signal.aborted || error instanceof OutcomeUnknown
    if (!isUnknown) return fails('tool_error')
    return tool.idempotent ? fails('timeout') : { call, act: 'lose', ...failed('timeout') }
  } finally {
    clearTimeout(timer)
  }
}

async function run(
  { log, saveFile }: ToolDeps,
  { call, tool, attempt, ...started }: StartedCall,
  signal: AbortSignal,
): Promise<CallMove> {
  const checked = await tool.validate(fromStoredValue(call.input!))
  if (checked.issues !== undefined) return { call, act: 'fail', ...failed('invalid_input') }
  const { actor, user, assistant } = started
  const { conversation_id, message_id } = call
  const place = { call_id: call.id, attempt, conversation_id, message_id, assistant }
  const { output = null, parts } = await tool.run(checked.value, { ...place, actor, user, signal })
  const text = toOutputText(output)
  if (text === undefined) return { call, act: 'fail', ...failed('output_too_large') }
  return {
    call,
    act: 'finish',
    change: { output: text },
    ...(tool.show === 'all' && { shown: { output: fromStoredValue(text) } }),
    parts: await toResultParts(parts, {
      save: ({ name, bytes }) => saveFile(user.id, conversation_id, { name, bytes, signal }),
      onBad: (cause) =>
        log.warn('A part of the result of a tool was left out', { call_id: call.id, tool: call.name, cause }),
    }),
  }
}

/** @returns the output as it is stored; `undefined` if it is too long. @throws Error for what JSON cannot have */
function toOutputText(output: unknown): string | undefined {
  const text = toJsonText([output], 'output of a tool')
  return Buffer.byteLength(text) > MAX_VALUE ? undefined : text
}

/** Rejects as soon as one of the signals aborts, whatever the work does. */
function raceAborts<T>(signals: readonly AbortSignal[], work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('It took too long, or the answer has ended.'))
    for (const signal of signals) {
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
    }
    work.then(resolve, reject).finally(() => {
      for (const signal of signals) signal.removeEventListener('abort', stop)
    })
  })
}
