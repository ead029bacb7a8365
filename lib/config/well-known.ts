import * as v from 'valibot'
import { isStorable } from '../core/schema.ts'
import { isSection, reloadableKey as key, section } from './key.ts'

/** A document under `/.well-known/`, as it is served. */
export interface WellKnownEntry {
  /** The path after `/.well-known/`. */
  path: string
  content_type: string
  body: string
}

/** A document as it may be written. */
export interface WellKnownContent {
  content_type?: string
  body: string
}

/** The two notations for documents: a list, or a table by path, in which a text alone is a body. */
export type WellKnownInput = (WellKnownContent & { path: string })[] | Record<string, string | WellKnownContent>

const KEYS = ['content_type', 'body']

const FORM = 'must be a table of paths with their texts, or a list of tables with path, content_type and body'

/** A media type with its parameters (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *; *[\w!#$&^.+-]+=([\w!#$&^.+-]+|"[ !#-[\]-~]*"))*$/

/** Path segments that need no escapes in a URL (`pchar` of RFC 3986). */
const PATH = /^[\w.~!$&'()*+,;=:@-]+(\/[\w.~!$&'()*+,;=:@-]+)*$/

/** Names of properties of every JavaScript object. */
const RESERVED = ['__proto__', 'constructor', 'prototype']

/** Longer than any registered name, and short enough for every proxy. */
const MAX_PATH_LENGTH = 255

/** The documents under `/.well-known/`. */
export const WellKnownSection = section({
  entries: key(
    v.pipe(
      v.custom<WellKnownInput>((input) => Array.isArray(input) || isSection(input), FORM),
      v.rawTransform<WellKnownInput, WellKnownEntry[]>(({ dataset, addIssue, NEVER }) => {
        const written = writtenEntries(dataset.value)
        const problems = written.flatMap(({ name, path, content }, index) => {
          const isTwice = written.findIndex((other) => other.path === path) < index
          const problem = problemOf(path, content) ?? (isTwice ? 'has a path that another entry has' : undefined)
          return problem ? [`${name} ${problem}`] : []
        })
        if (problems.length === 0)
          return written.map(({ path, content }) => toEntry(path as string, content as WellKnownContent))
        addIssue({ message: problems.join('; ') })
        return NEVER
      }),
    ),
    [] as WellKnownInput,
    'Documents under /.well-known/, by path: a text, or a table with body and content_type. Also as a list of tables with path, body and content_type.',
  ),
})

/** An entry that is not validated yet, and where it was written. */
interface Unchecked {
  /** For messages. It does not contain the entry's value. */
  name: string
  path: unknown
  content: unknown
}

function writtenEntries(input: WellKnownInput): Unchecked[] {
  if (Array.isArray(input))
    return input.map((item: unknown, index) => ({
      name: `entry ${index + 1}`,
      path: isSection(item) ? item.path : undefined,
      content: isSection(item) ? withoutPath(item) : item,
    }))
  return Object.entries(input).map(([path, content]) => ({
    name: JSON.stringify(path.slice(0, MAX_PATH_LENGTH)),
    path,
    content: typeof content === 'string' ? { body: content } : content,
  }))
}

function withoutPath({ path: _, ...content }: Record<string, unknown>): object {
  return content
}

function problemOf(path: unknown, content: unknown): string | undefined {
  if (!isSection(content)) return 'must be a text, or a table with body and content_type'
  if (typeof path !== 'string') return 'must have a path'
  const foreign = Object.keys(content).find((name) => !KEYS.includes(name))
  if (foreign !== undefined && content.body === undefined)
    return 'has no body; a path with a dot in it is written in quotes'
  if (foreign !== undefined) return `has a key that is none of ${KEYS.join(', ')}`
  return pathProblem(path) ?? contentProblem(content)
}

function pathProblem(path: string): string | undefined {
  const segments = path.split('/')
  if (path.length > MAX_PATH_LENGTH) return `has a path of more than ${MAX_PATH_LENGTH} characters`
  if (segments.some((prefix) => RESERVED.includes(prefix))) return `has a path with ${RESERVED.join(', ')} in it`
  if (segments.includes('.') || segments.includes('..')) return 'has a path with . or .. in it'
  if (!PATH.test(path))
    return 'has a path that is none: names of letters, digits and -._~ with one / between them, and none before the first'
}

function contentProblem({ content_type, body }: Record<string, unknown>): string | undefined {
  if (typeof body !== 'string' || !isStorable(body))
    return 'must have a text for a body, without NUL and lone surrogates'
  if (content_type !== undefined && (typeof content_type !== 'string' || !MEDIA_TYPE.test(content_type)))
    return 'has a content_type that is none, such as text/plain; charset=utf-8'
}

function toEntry(path: string, { body, content_type = typeOf(path, body) }: WellKnownContent): WellKnownEntry {
  return { path, content_type, body }
}

/** Many well-known documents are JSON but have no `.json` in their name. */
function typeOf(path: string, body: string): string {
  return path.endsWith('.json') || isJsonObject(body) ? 'application/json' : 'text/plain; charset=utf-8'
}

function isJsonObject(text: string): boolean {
  try {
    return /^\s*[{[]/.test(text) && typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}
