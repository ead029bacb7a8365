import { stripVTControlCharacters } from 'node:util'
import { ConfigError } from '../lib/config/parse.ts'
import { ChatError } from '../lib/core/errors.ts'
import { UsageError } from './args/command.ts'
import { oneLine, print } from './output.ts'

/** Why a command failed, as its `--json` document tells it. */
interface Failure {
  code: string
  message: string
  errors?: { path: string; message: string }[]
}

/** Whether the command line itself is at fault, so that its usage helps. */
export function isUsageError(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && error.name === 'CLIError')
}

/** 2 for what the caller wrote wrong, on the line or in the configuration; 1 for what could not be done. */
export function exitCodeOf(error: unknown): 1 | 2 {
  const wrongInput = error instanceof ChatError && error.code === 'validation_failed'
  return isUsageError(error) || error instanceof ConfigError || wrongInput ? 2 : 1
}

/** Says on standard error what went wrong, without a stack; under `--json` also as the document the caller waits for. */
export function reportFailure(error: unknown, options: { json: boolean }): void {
  const failure = toFailure(error)
  const lines = [`chat-server: ${failure.message}`, ...(failure.errors ?? []).map((e) => `  ${e.path}: ${e.message}`)]
  process.stderr.write(`${lines.map(oneLine).join('\n')}\n`)
  if (options.json) print({ json: true }, { error: failure }, '')
}

function toFailure(error: unknown): Failure {
  if (error instanceof ConfigError) {
    const errors = error.problems.map(({ key, message }) => ({ path: key, message }))
    return { code: 'configuration_invalid', message: 'the configuration cannot be used', errors }
  }
  if (error instanceof ChatError) {
    // HTTP keeps to itself why the storage failed; the person at the machine is the one to mend it.
    const why = error.status >= 500 && error.cause !== undefined ? ` (${messageOf(error.cause)})` : ''
    return { code: error.code, message: error.message + why, ...(error.errors && { errors: error.errors }) }
  }
  const code = isUsageError(error) ? 'usage' : 'failed'
  return { code, message: stripVTControlCharacters(messageOf(error)) }
}

/**
 * Why something failed, in one sentence at most.
 *
 * A refused connection to a host with several addresses comes as an empty error that holds one for each.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || (error instanceof AggregateError && messageOf(error.errors[0])) || error.name
}
