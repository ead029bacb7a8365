import { readFile, stat } from 'node:fs/promises'
import * as v from 'valibot'
import { defaultUsername } from '../lib/accounts/users/rules.ts'
import { UserInput } from '../lib/accounts/users/schema.ts'
import type { Role } from '../lib/core/actor.ts'
import { uniqueKey } from '../lib/core/characters.ts'
import { didYouMean } from '../lib/core/nearest.ts'
import { UsageError } from './args/command.ts'
import { toErrorMessage } from './errors.ts'

/** A user of a list, and the line of the file. */
export interface ListedUser {
  line: number
  input: Omit<UserInput, 'password'>
}

/** A line of a list that describes no user. */
export interface ListProblem {
  line: number
  message: string
}

/** About 100,000 users. */
const MAX_BYTES = 16 * 2 ** 20

/** More than four times what a valid line has: a file with a quote that does not end is not one line. */
const MAX_LINE_BYTES = 16_384

/** The roles that every service has and that administrators give. */
const ROLES: readonly Role[] = ['admin', 'member', 'read_only']

const COLUMNS = ['email', 'username', 'display_name', 'roles']

/**
 * Reads a list of users: CSV (RFC 4180) in UTF-8 with a line of headings, separated by commas, or by semicolons as some
 * spreadsheets write it.
 *
 * @param ownRoles those of the host, beside those that every service has
 * @throws Error for a file that is too large or not such a list; UsageError for other columns
 */
export async function readUserList(
  path: string,
  ownRoles: readonly Role[],
): Promise<{ users: ListedUser[]; problems: ListProblem[] }> {
  const stats = await stat(path)
  // The size of a pipe is not known before it is read.
  if (!stats.isFile()) throw new Error(`${path} is not a file`)
  if (stats.size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES / 2 ** 20} MiB: divide it`)
  return parseUserList(decode(path, await readFile(path)), ownRoles)
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Error(`${path} is not UTF-8: save it as "CSV UTF-8"`, { cause })
  }
}

/** Reads the users from a text. If two lines have the same name or address, the second one is a problem. */
export async function parseUserList(
  text: string,
  ownRoles: readonly Role[] = [],
): Promise<{ users: ListedUser[]; problems: ListProblem[] }> {
  const { parse } = await import('csv-parse/sync')
  const [first = ''] = text.split('\n', 1)
  const options = {
    columns: checkHeadings,
    delimiter: first.includes(';') ? ';' : ',',
    info: true as const,
    max_record_size: MAX_LINE_BYTES,
    skip_empty_lines: true,
    trim: true,
  }
  // Without any line no headings are checked.
  if (text.trim() === '') checkHeadings([])
  const rows = readable(() => parse(text, options)) as { record: Record<string, string>; info: { lines: number } }[]
  const known = [...ROLES, ...ownRoles]
  const users: ListedUser[] = []
  const problems: ListProblem[] = []
  const lineOf = new Map<string, number>()
  for (const { record, info } of rows) {
    const line = info.lines
    const parsed = v.safeParse(UserInput, toInput(record), { abortPipeEarly: true })
    if (!parsed.success) {
      problems.push({ line, message: parsed.issues.map((issue) => describe(issue, known)).join('; ') })
      continue
    }
    if (parsed.output.roles.some((role) => !known.includes(role))) {
      problems.push({ line, message: unknownRole(known) })
      continue
    }
    const { password: _, ...input } = parsed.output
    const names = { email: input.email, username: input.username }
    for (const [name, value] of Object.entries(names)) {
      const key = `${name} ${uniqueKey(value)}`
      const before = lineOf.get(key)
      if (before === undefined) lineOf.set(key, line)
      else problems.push({ line, message: `${name} is that of line ${before}` })
    }
    users.push({ line, input })
  }
  return { users, problems }
}

/** @throws Error with what to correct, where the text is no CSV */
function readable(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new Error(`The file is not CSV: ${toErrorMessage(cause)}. Save it as CSV again.`, { cause })
  }
}

/** A problem in the words of the columns. */
function describe(issue: v.BaseIssue<unknown>, roles: readonly Role[]): string {
  const column = v.getDotPath(issue)?.split('.')[0] ?? ''
  return column === 'roles' ? unknownRole(roles) : `${column} ${issue.message}`.trim()
}

const unknownRole = (roles: readonly Role[]) => `roles must be some of ${roles.join(', ')}`

/** @throws UsageError without the column `email`, and for unknown ones */
function checkHeadings(headings: string[]): string[] {
  const names = headings.map((heading) => heading.trim().toLowerCase())
  for (const name of names) {
    if (name === 'password') throw new UsageError('passwords are not imported: users set one through a mailed link')
    if (!COLUMNS.includes(name))
      throw new UsageError(
        `unknown column "${name}"${didYouMean(name, COLUMNS)}; the columns are ${COLUMNS.join(', ')}`,
      )
  }
  if (!names.includes('email')) throw new UsageError('the first line must name the columns, and email must be one')
  return names
}

function toInput({ email = '', username, display_name, roles }: Record<string, string>) {
  return {
    email,
    username: username || defaultUsername(email),
    ...(display_name && { display_name }),
    ...(roles && { roles: roles.split(/[\s,;|]+/) }),
  }
}
