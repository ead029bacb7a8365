import {
  beginningOf,
  entriesOf,
  isCalled,
  pairEntries,
  queryWords,
  type Word,
} from '../../accounts/users/rules-words.ts'
import {
  type EntryRow,
  listAcquaintances,
  listBeginning,
  listCircle,
  listNamed,
  listOutdated,
  listWithAll,
  listWithEntries,
  type PersonRow,
} from '../../accounts/users/store-people.ts'
import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { listSharing } from '../memberships/store-direct.ts'
import { listKnownTo } from '../presence/store.ts'

/** How many users are read of a word that more begin with: their names are compared with the other words. */
const MAX_CANDIDATES = 500

/** How many users of the longest of several frequent words are looked up for the other words. */
const MAX_SCANNED = 2_000

/** How many participations of shared conversations are read. */
const MAX_SHARED = 500

/**
 * Up to so many participations of private conversations, their users are compared one by one. Of more, those with such
 * names are looked up among all users: then names of many users may cost time, though they are not shown.
 */
const MAX_CIRCLE = 1_000

/** How many users without words are read: those that older programs have stored, and some of them after an upgrade. */
const MAX_OUTDATED = 500

/** How many words are looked up until one is rare enough. */
const MAX_LOOKUPS = 3

/**
 * Up to `limit` users with these names, in the order of the search. It is exact where at most 500 users have one of the
 * words, or both of two words begin, or 2,000 have the longest; of more, the first by name are compared.
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
  const matches = [near, ...others].flat().filter(isFit)
  const found = [...matches, ...own]
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
 * The users with the rarest of these words; of two frequent ones, those with both beginnings.
 *
 * @param limit of a single short word: each of its users is a match
 */
export async function listEntries(
  db: Queries,
  words: readonly Word[],
  { limit, isDisabled }: { limit: number; isDisabled: boolean },
): Promise<EntryRow[]> {
  const only = words.length === 1 ? entriesOf(words[0]!, { isDisabled }) : undefined
  // Each of these is a match: by name, no more are needed.
  if (only?.isWhole) return listWithEntries(db, only, limit)
  let first: EntryRow[] | undefined
  for (const word of words.slice(0, MAX_LOOKUPS)) {
    const rows = await listWithEntries(db, entriesOf(word, { isDisabled }), MAX_CANDIDATES + 1)
    if (rows.length <= MAX_CANDIDATES) return rows
    first ??= rows
  }
  const pair = pairEntries(words, { isDisabled })
  const both = pair ? await listWithEntries(db, pair, MAX_CANDIDATES) : first!
  if (both.length < MAX_CANDIDATES) return both
  const [longest, ...rest] = words
  const others = rest.flatMap((word) => beginningOf(word, { isDisabled }) ?? [])
  if (others.length === 0) return both
  const scan = { others, scanned: MAX_SCANNED, limit: MAX_CANDIDATES }
  return [...both, ...(await listWithAll(db, entriesOf(longest!, { isDisabled }), scan))]
}

/** The users whose words are outdated; while there are many, after an upgrade, those with such usernames as well. */
async function listWithoutWords(db: Queries, query: string, limit: number): Promise<PersonRow[]> {
  const rows = await listOutdated(db, MAX_OUTDATED)
  return rows.length < MAX_OUTDATED ? rows : [...rows, ...(await listBeginning(db, query, limit))]
}

function byName({ username_key: one }: PersonRow, { username_key: other }: PersonRow): number {
  return one < other ? -1 : one > other ? 1 : 0
}
