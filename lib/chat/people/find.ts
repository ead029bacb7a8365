import {
  beginningOf,
  type Entries,
  entriesOf,
  isBeginning,
  isCalled,
  pairEntries,
  queryWords,
  type Word,
} from '../../accounts/users/rules-words.ts'
import {
  countEntries,
  type EntryRow,
  listAcquaintances,
  listBeginning,
  listCircle,
  listNamed,
  listOutdated,
  listWithAll,
  type PersonRow,
} from '../../accounts/users/store-people.ts'
import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { listSharing } from '../memberships/store-direct.ts'
import { listKnownTo } from '../presence/store.ts'

/** How many entries of a word, or of two, are looked up for the beginnings of the other words. */
const MAX_SCANNED = 2_000

/** How many users that have all beginnings are read: their names are compared with the words. */
const MAX_CANDIDATES = 500

/** How many participations of shared conversations are read. */
const MAX_SHARED = 500

/**
 * Up to so many participations of private conversations, their users are compared one by one. Of more, those with such
 * names are looked up among all users: then names of many users may cost time, though they are not shown.
 */
const MAX_CIRCLE = 1_000

/** How many users without words are read: those that older programs have stored, and some of them after an upgrade. */
const MAX_OUTDATED = 500

/** The rarest is sought among so many words. */
const MAX_LOOKUPS = 3

/**
 * Up to `limit` users with these names, in the order of the search. It is exact where the index has at most 2,000 entries
 * of one of the words, or of the beginnings of two, and at most 500 users have the beginnings of all words; of more, the first
 * ones are compared.
 *
 * @param isShared only the user, and users of private conversations that the user shares with them
 */
export async function findPeople(
  db: Queries,
  { user_id, query, limit, isShared = false }: { user_id: string; query: string; limit: number; isShared?: boolean },
): Promise<PersonRow[]> {
  const words = queryWords(query)
  const circle = isShared ? await listCircle(db, user_id, MAX_CIRCLE) : undefined
  if (circle) return ofCircle(circle, { words, query, limit })
  const named = listNamed(db, query)
  if (!isLong(words)) return isShared ? onlyShared(db, user_id, await named) : named
  const [own, near, ...others] = await Promise.all([
    named,
    listAcquaintances(db, user_id, MAX_SHARED),
    listCandidates(db, words, isShared ? MAX_CANDIDATES : limit),
    listWithoutWords(db, query, limit),
  ])
  const isFit = ({ username, display_name }: PersonRow) => isCalled(words, username, display_name)
  const found = [
    ...near.filter(isFit),
    ...firstOf(others.flat(), isFit, isShared ? undefined : limit + MAX_KNOWN),
    ...own,
  ]
  const people = new Map((isShared ? await onlyShared(db, user_id, found) : found).map((row) => [row.id, row]))
  const shared = new Set(near.map(({ id }) => id))
  if (near.length > 0) await addShared(db, shared, { user_id, people })
  const rank = ({ id }: PersonRow) => (id === own[0]?.id ? 0 : shared.has(id) ? 1 : 2)
  return [...people.values()].sort((a, b) => rank(a) - rank(b) || byName(a, b)).slice(0, limit)
}

/** The users with these names among all that share a private conversation with the searcher: no other user costs time. */
function ofCircle(
  circle: PersonRow[],
  { words, query, limit }: { words: readonly Word[]; query: string; limit: number },
): PersonRow[] {
  const key = uniqueKey(query)
  const isNamed = ({ username_key }: PersonRow) => username_key === key
  const mayBegin = isLong(words)
  const found = circle.filter((row) => isNamed(row) || (mayBegin && isCalled(words, row.username, row.display_name)))
  return found.sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || byName(a, b)).slice(0, limit)
}

/** The ones of these users who share a private conversation with a user, and that user. */
async function onlyShared(db: Queries, userId: string, rows: PersonRow[]): Promise<PersonRow[]> {
  const ids = new Set(rows.map(({ id }) => id))
  if (ids.size === 0) return []
  const shared = new Set([userId, ...(await listSharing(db, userId, ids))])
  return rows.filter(({ id }) => shared.has(id))
}

/** Two characters that are no separators, or one of a script without spaces, of which each begins a word. */
function isLong(words: readonly Word[]): boolean {
  const length = words.reduce((sum, { text }) => sum + [...text].length, 0)
  return length > 1 || words.some(({ isDense }) => isDense)
}

/** More matches are not looked up one by one: those of the smallest shared conversations are known. */
const MAX_KNOWN = 100

async function addShared(
  db: Queries,
  shared: Set<string>,
  { user_id, people }: { user_id: string; people: ReadonlyMap<string, PersonRow> },
): Promise<void> {
  const unknown = [...people.keys()].filter((id) => !shared.has(id))
  if (unknown.length > MAX_KNOWN) return
  for (const id of await listKnownTo(db, user_id, unknown)) shared.add(id)
}

async function listCandidates(db: Queries, words: readonly Word[], limit: number): Promise<PersonRow[]> {
  const rows = await listEntries(db, words, { limit: limit + MAX_KNOWN, isDisabled: false })
  return rows.filter(({ is_found }) => is_found === 1)
}

/**
 * The users with the rarest of these words, as far as the index has the other words; where all are frequent, those with the
 * beginnings of two, too.
 *
 * @param limit where the index tells all that a match takes; else more are read, to be compared
 */
export async function listEntries(
  db: Queries,
  words: readonly Word[],
  { limit, isDisabled }: { limit: number; isDisabled: boolean },
): Promise<EntryRow[]> {
  const state = { isDisabled }
  const read = (entries: Entries, compared: readonly Word[]) =>
    listWithAll(db, entries, {
      others: compared.flatMap((word) => beginningOf(word, state) ?? []),
      scanned: MAX_SCANNED,
      limit: compared.every(isBeginning) ? limit : MAX_CANDIDATES,
    })
  const tried = words.slice(0, MAX_LOOKUPS)
  const counts =
    tried.length === 1
      ? [0]
      : await Promise.all(tried.map((word) => countEntries(db, entriesOf(word, state), MAX_SCANNED + 1)))
  const least = Math.min(...counts)
  const rarest = tried[counts.indexOf(least)]!
  const found = read(
    entriesOf(rarest, state),
    words.filter((word) => word !== rarest),
  )
  const pair = least > MAX_SCANNED ? pairEntries(words, state) : undefined
  // What the pair has is not looked up again.
  const others = words.filter(({ text }, n) => n > 1 || [...text].length > 2)
  return (await Promise.all([found, pair ? read(pair, others) : []])).flat()
}

/** The users whose words are outdated; while there are many, after an upgrade, those with such usernames as well. */
async function listWithoutWords(db: Queries, query: string, limit: number): Promise<PersonRow[]> {
  const rows = await listOutdated(db, MAX_OUTDATED)
  return rows.length < MAX_OUTDATED ? rows : [...rows, ...(await listBeginning(db, query, limit))]
}

/** The first users by name that are fit: to compare a name takes longer than to read it. */
function firstOf(rows: PersonRow[], isFit: (row: PersonRow) => boolean, limit = rows.length): PersonRow[] {
  const found: PersonRow[] = []
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const row of [...byId.values()].sort(byName)) if (found.length < limit && isFit(row)) found.push(row)
  return found
}

function byName({ username_key: one }: PersonRow, { username_key: other }: PersonRow): number {
  return one < other ? -1 : one > other ? 1 : 0
}
