import type { SearchRoute } from '../app/route.ts'

/** What a message can have. */
export const HAS = ['file', 'link', 'mention', 'reaction', 'pin'] as const

type Narrowing = Omit<SearchRoute, 'name'>

/** A filter of the service in a text; `value` may be in quotes. */
const FILTER = /(^|\s)((?:in|from|thread|before|after|on|has):)((?:"[^"]*"|\S)\S*)/gi

/** The last word of a query, of letters or of digits, which is neither excluded nor in quotes: as long as a beginning has to be. */
const LAST_WORD = /(^|\s)((\p{L}\p{M}*){3,}|\p{N}{3,})$/u

/** What narrows a search, in the order in which it is shown. */
export const FILTERS = ['in', 'from', 'has', 'after', 'before'] as const
export type Filter = (typeof FILTERS)[number]

/** The search with a filter, or with an empty value without it. */
export function withFilter(route: SearchRoute, filter: Filter, value: string): SearchRoute {
  const { [filter]: _, ...rest } = route
  return value === '' ? rest : { ...rest, [filter]: value }
}

/** A conversation by the name that is typed. */
interface Named {
  id: string
  title: string
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * What is typed, with its `in:`, `from:`, `before:`, `after:`, `on:` and `has:` taken out of the words. A conversation may be named by
 * its title, or the beginning of it, and a user in quotes by a username or display name; what cannot be resolved stays with
 * the words.
 *
 * @param own_username that of `from:me`
 */
export function narrow(typed: string, conversations: readonly Named[], own_username: string | undefined): Narrowing {
  const found: Narrowing = { q: '' }
  const words = typed.replace(
    /(^|\s)(in|from|before|after|on|has):(?:"([^"]*)"|(\S+))/gi,
    (whole, space: string, name: string, quoted: string | undefined, plain: string | undefined) => {
      const key = name.toLowerCase() as keyof Narrowing | 'on'
      const value =
        key === 'from' && quoted?.trim()
          ? quoted.trim()
          : resolve(key, (quoted ?? plain ?? '').trim(), conversations, own_username)
      if (value === undefined) return whole
      if (key === 'on') Object.assign(found, { after: value, before: nextDay(value) })
      else found[key] = value as never
      return space
    },
  )
  return { ...found, q: words.trim().replace(/\s+/g, ' ') }
}

function nextDay(date: string): string {
  return new Date(Date.parse(date) + 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
}

function resolve(
  key: keyof Narrowing | 'on',
  value: string,
  conversations: readonly Named[],
  own_username: string | undefined,
): string | undefined {
  if (value === '') return undefined
  if (key === 'in') return ID.test(value) ? value : idOf(value, conversations)
  if (key === 'has') return HAS.find((each) => each === value.toLowerCase())
  if (key !== 'from') return DATE.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined
  if (value.toLowerCase() === 'me' && own_username !== undefined) return `@${own_username}`
  return ID.test(value) || value.startsWith('@') ? value : `@${value}`
}

/** The one that is called so, or the only one that begins so. */
function idOf(title: string, conversations: readonly Named[]): string | undefined {
  const wanted = title.toLowerCase()
  const named = (test: (title: string) => boolean) => conversations.filter((each) => test(each.title.toLowerCase()))
  const equal = named((each) => each === wanted)
  const all = equal.length > 0 ? equal : named((each) => each.startsWith(wanted))
  return all.length === 1 ? all[0]!.id : undefined
}

/**
 * What is searched for: only chosen filters narrow a search, so those left among the words are words; and the last word is the
 * beginning of one, as long as it is typed.
 */
export function queryWords(q: string): string {
  const words = q
    .trim()
    .replace(FILTER, (_, space: string, key: string, value: string) => `${space}${key.slice(0, -1)} ${value}`)
  const isInQuotes = words.split('"').length % 2 === 0
  return isInQuotes ? words : words.replace(LAST_WORD, '$&*')
}

/** The filters among the words, which narrow nothing. */
export function leftOverOf(q: string): string[] {
  return Array.from(q.matchAll(FILTER), ([, , key, value]) => `${key}${value}`)
}
