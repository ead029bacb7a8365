import type { SearchRoute } from '../app/route.ts'

/** What a message can have. */
export const HAS = ['file', 'link', 'mention', 'reaction', 'pin'] as const

type Narrowing = Omit<SearchRoute, 'name'>

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
