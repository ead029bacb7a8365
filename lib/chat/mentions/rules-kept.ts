import type { Micros } from '../../storage/sql.ts'
import { ALL, choosePlaces, findNames, type WrittenNames } from './rules-find.ts'

/** What the mentions of a message come from, as it is stored. */
export interface MentionOrigins {
  /** The names of its text, by key, with the ids of their users; an empty id is that of an erased user. */
  names?: Record<string, string>
  /** The users that its author named by id, if not by the text. */
  user_ids?: string[]
  /** Whether its author named all participants so. */
  all?: true
  /** When the text that has the names was edited; missing for that of the post. */
  edited_at?: Micros
}

/** What a text keeps of its mentions when it is edited. */
export interface KeptMentions {
  /** The users of its names, by key. */
  idOf: ReadonlyMap<string, string>
  /** The keys of names that were text, and stay it. */
  texts: ReadonlySet<string>
  /** Whether `@all` in the text meant all participants. */
  meansAll: boolean
  /** The mentions that its author named by id. */
  user_ids: readonly string[]
  all: boolean
}

/** A message before an edit. */
export interface Before {
  content: string
  edited_at: Micros | null
  mention_all: number | null
}

/**
 * What a message keeps of its mentions.
 *
 * @param stored its origins; those of another text are ignored: a process of an earlier version has edited it
 * @returns `undefined` if nothing is known, so that all names are looked up
 */
export function keptMentions(before: Before, stored: string | null): KeptMentions | undefined {
  const origins = stored === null ? undefined : (JSON.parse(stored) as MentionOrigins)
  if (!origins || (origins.edited_at ?? null) !== before.edited_at) return undefined
  const all = origins.all === true
  const user_ids = Array.isArray(origins.user_ids) ? origins.user_ids.filter((id) => id !== '') : []
  const idOf = new Map(Object.entries(origins.names ?? {}).filter(([, id]) => id !== ''))
  const meansAll = before.mention_all === 1 && !all
  return { idOf, texts: textsIn(findNames(before.content), idOf, meansAll), meansAll, user_ids, all }
}

/** The keys of names that are text: behind each `@` those that are longer than the one that is a user's. */
function textsIn(written: WrittenNames, idOf: ReadonlyMap<string, string>, meansAll: boolean): Set<string> {
  const chosen = new Map(choosePlaces(written, idOf).map((name) => [name.at, name]))
  const texts = new Set<string>()
  let end = 0
  for (const { at, ends, isExcluded } of written.places) {
    const name = chosen.get(at)
    if (at < end || (isExcluded && !name)) continue
    end = name?.end ?? end
    for (const key of ends.keys()) {
      if (key === name?.key) break
      texts.add(key)
    }
  }
  if (meansAll) texts.delete(ALL)
  else if ([...chosen.values()].some(({ key }) => key === ALL)) texts.add(ALL)
  return texts
}

/** The names of an edited text, without those that stay text. */
export function withoutTexts({ text, places }: WrittenNames, texts: ReadonlySet<string>): WrittenNames {
  const left = places.flatMap(({ ends, ...place }) => {
    const names = new Map([...ends].filter(([key]) => !texts.has(key)))
    return names.size > 0 ? { ...place, ends: names } : []
  })
  return { text, places: left }
}
