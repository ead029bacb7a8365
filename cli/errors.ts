import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { ConfigError } from '../lib/config/parse.ts'
import { ChatError, MESSAGES } from '../lib/core/errors.ts'
import { toTargetPath } from '../lib/storage/temporary.ts'
import { UsageError } from './args/command.ts'
import { oneLine, print } from './output.ts'
import { describeRefusal } from './permission.ts'

/** The error of a command in its `--json` document. */
export interface Failure {
  code: string
  message: string
  errors?: { path: string; message: string }[]
}

/** Whether the command line is invalid, so that the usage helps. */
export function isUsageError(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && error.name === 'CLIError')
}

/** 2 for an invalid command line or configuration; 1 for a failed command. */
export function toExitCode(error: unknown): 1 | 2 {
  const wrongInput = error instanceof ChatError && error.code === 'validation_failed'
  return isUsageError(error) || error instanceof ConfigError || wrongInput ? 2 : 1
}

/** Prints the error to standard error, without a stack; with `--json` also as a document on standard output. */
export function reportFailure(error: unknown, options: { json: boolean }): void {
  const failure = toFailure(error)
  const { message, errors = [] } = failure.message === MESSAGES.validation_failed ? inFlags(failure) : failure
  const lines = [`chat-server: ${message}`, ...errors.map((problem) => `  ${problem.path}: ${problem.message}`)]
  process.stderr.write(`${lines.map(oneLine).join('\n')}\n`)
  if (options.json) print({ json: true }, { error: failure }, '')
}

export function toFailure(error: unknown): Failure {
  if (error instanceof ConfigError) {
    const errors = error.problems.map(({ key, message }) => ({ path: key, message }))
    return { code: 'configuration_invalid', message: 'the configuration cannot be used', errors }
  }
  if (error instanceof ChatError) {
    // HTTP hides why the storage failed; the operator of the machine needs the reason.
    const message = error.status >= 500 ? withCause(error) : error.message
    return { code: error.code, message, ...(error.errors && { errors: error.errors }) }
  }
  const code = isUsageError(error) ? 'usage' : 'failed'
  return { code, message: stripVTControlCharacters(describeSystemError(error) ?? toErrorMessage(error)) }
}

/** The message of an error with that of its cause, unless it contains it. */
export function withCause(error: ChatError): string {
  if (error.cause === undefined) return error.message
  const cause = describeSystemError(error.cause) ?? toErrorMessage(error.cause)
  return error.message.includes(cause) ? error.message : `${error.message} (${cause})`
}

/** A failure as a command reports it: with flags instead of the fields of a request. */
function inFlags({ code, errors }: Failure): Failure {
  return {
    code,
    message: 'a value cannot be used',
    errors: (errors ?? []).map(({ path, message }) => ({ path: flagOf(path), message })),
  }
}

/** The flags of fields that have another name there. */
const FLAGS: Record<string, string> = {
  expires_at: 'expires',
  redirect_uris: 'redirect',
  requests_per_second: 'rps',
  root_id: 'root',
  session_id: 'id',
}

/** The flag of a field of a request, such as `--roles` of `roles[0]`. A password need not be one: it may come from elsewhere. */
function flagOf(path: string): string {
  const field = path
    .replace(/\[\d+\]/g, '')
    .split('.')
    .at(-1)!
  return field === 'password' || field === '' ? path : `--${(FLAGS[field] ?? field).replaceAll('_', '-')}`
}

const SYSTEM_ERRORS: Record<string, (path: string) => string> = {
  ENOENT: (path) => `${path} does not exist`,
  EACCES: (path) => describeRefusal(path),
  EPERM: (path) => describeRefusal(path),
  EISDIR: (path) => `${path} is a folder, not a file`,
  ENOTDIR: (path) => `${path} cannot exist: a part of the path is not a folder`,
  EROFS: (path) => `${path} is on a read-only file system`,
  ENOSPC: (path) => `no space is left for ${path}`,
}

/** Node's errors of files begin with a code and name a system call; `undefined` for other errors. */
export function describeSystemError(error: unknown): string | undefined {
  const { code, path, dest } = Object(error) as { code?: unknown; path?: unknown; dest?: unknown }
  const named = dest ?? path
  if (typeof named !== 'string' || typeof code !== 'string') return undefined
  // What is being written has this name until it is complete.
  const file = toTargetPath(named)
  const folder = dirname(resolve(file))
  if (code === 'ENOENT' && file !== named && !existsSync(folder)) return `the folder ${folder} does not exist`
  return SYSTEM_ERRORS[code]?.(file)
}

/**
 * The message of an error, at most one sentence.
 *
 * A refused connection to a host with several addresses is an empty error that contains one error per address.
 */
export function toErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || (error instanceof AggregateError && toErrorMessage(error.errors[0])) || error.name
}
