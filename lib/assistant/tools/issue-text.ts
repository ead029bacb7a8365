import type { StandardIssue } from './standard-schema.ts'
import { storableExcerpt } from './storable.ts'

/** How many issues the model is told: one that is far off does not learn more from more. */
const MAX_ISSUES = 10

/** The longest text about an input, in UTF-16 units. */
const MAX_TEXT = 1_000

/** What is wrong with an input as one text: each issue with the place in the input. */
export function issueText(issues: unknown): string {
  const list = Array.isArray(issues) ? issues.slice(0, MAX_ISSUES) : [issues]
  const texts = list.map((issue) => textOf(issue)).filter((text) => text !== '')
  return storableExcerpt(texts.join('; '), MAX_TEXT) || 'The input is not valid.'
}

function textOf(issue: unknown): string {
  if (typeof issue === 'string') return issue
  const { message, path } = Object(issue) as Partial<StandardIssue>
  const place = Array.isArray(path) ? path.map(keyOf).join('.') : ''
  return [...(place ? [place] : []), ...(typeof message === 'string' ? [message] : [])].join(': ')
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment)
}
