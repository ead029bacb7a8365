import { stripVTControlCharacters } from 'node:util'
import { ConfigError } from '../lib/config/parse.ts'
import { ChatError } from '../lib/core/errors.ts'
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
export function exitCodeOf(error: unknown): 1 | 2 {
  const wrongInput = error instanceof ChatError && error.code === 'validation_failed'
  return isUsageError(error) || error instanceof ConfigError || wrongInput ? 2 : 1
}

/** Prints the error to standard error, without a stack; with `--json` also as a document on standard output. */
export function reportFailure(error: unknown, options: { json: boolean }): void {
  const failure = toFailure(error)
  const lines = [`chat-server: ${failure.message}`, ...(failure.errors ?? []).map((e) => `  ${e.path}: ${e.message}`)]
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
    const why =
      error.status >= 500 && error.cause !== undefined
        ? ` (${describeSystemError(error.cause) ?? messageOf(error.cause)})`
        : ''
    return { code: error.code, message: error.message + why, ...(error.errors && { errors: error.errors }) }
  }
  const code = isUsageError(error) ? 'usage' : 'failed'
  return { code, message: stripVTControlCharacters(describeSystemError(error) ?? messageOf(error)) }
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
  const file = dest ?? path
  return typeof file === 'string' && typeof code === 'string' ? SYSTEM_ERRORS[code]?.(file) : undefined
}

/**
 * The message of an error, at most one sentence.
 *
 * A refused connection to a host with several addresses is an empty error that contains one error per address.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || (error instanceof AggregateError && messageOf(error.errors[0])) || error.name
}
