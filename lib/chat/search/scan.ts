import { setImmediate as turn } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { fit, MAX_PAGE_BYTES } from '../../core/pages.ts'
import { createStepRunner, type Steps } from '../../core/scheduling/steps.ts'
import type { Queries } from '../../storage/database.ts'
import { isOutOfTime } from '../../storage/errors.ts'
import { withOwn, withTexts } from '../messages/completing.ts'
import { listLightMessages, type MessageRow, toMessage } from '../messages/store.ts'
import { findEntries } from './lookup.ts'
import { fileNames, hasLink } from './rules.ts'
import { toExcerpt } from './rules-excerpt.ts'
import { expectedHits, FIRST_SPAN, nextSpan, type Span, type Wanted } from './rules-lookup.ts'
import { findPlaces } from './rules-places.ts'
import type { Phrase } from './rules-query.ts'
import type { SearchExcerpt, SearchResult } from './schema.ts'
import { type Filters, listChangedBetween, listReadable, listTitles, type Readable } from './store.ts'

/** A search: the query of the index, and what each hit must match. */
export interface SearchPlan {
  wanted: Wanted
  all: readonly Phrase[]
  none: readonly Phrase[]
  needs_link: boolean
  filters: Filters
  /** The numbers of the oldest and of the newest message. */
  oldest: number
  newest: number
}

/**
 * How many messages the index returns in the first step, the second, and so on: a query of the index costs as
 * much as some hundred messages, and most pages are full after the first one.
 */
const BATCH_SIZES = [200, 400, 800] as const

/** Fewer on SQLite within a conversation or a thread: most matches are results, and FTS5 finds them one by one. */
const NARROW_BATCH_SIZES = [50, 200, 800] as const

/** How many messages are read at once. */
const TEXTS = 20

/** How long texts are compared before others have a turn of the event loop. */
const TURN_MS = 5

/** How long texts are compared in one step: on SQLite the other calls of the process wait for its end. */
const STEP_MS = 20

/** The least time of the statements of a step: also a search that had to wait for its turn gets on. */
const MIN_STEP_MS = 50

type Hit = SearchResult & { doc: number }

/**
 * The page of a search, which has room for one more result than it shows: then there is another page. It is full, too,
 * with more text than fits.
 */
export function createPage(actor: Actor, limit: number) {
  const hits: Hit[] = []
  let units = 0
  return {
    actor,
    /** The number of its last result. */
    low: () => hits.at(-1)?.doc,
    isFull: () => hits.length > limit || (hits.length > 1 && units > MAX_PAGE_BYTES),
    add(hit: Hit) {
      hits.push(hit)
      units += hit.message.content.length + (hit.message.prompt?.length ?? 0)
    },
    /** @returns its results, and where the next page begins, if there is one */
    end(): { results: SearchResult[]; next?: number } {
      const shown = fit(hits.slice(0, limit))
      const results = shown.map(({ doc: _, ...result }) => result)
      return { results, ...(shown.length < hits.length && { next: shown.at(-1)!.doc }) }
    },
  }
}

type Page = ReturnType<typeof createPage>

/** Fills a page with what is older than `start`. @returns how far it looked, and whether the time was over before the end */
export async function scan(
  ctx: Pick<Context, 'db' | 'search'>,
  plan: SearchPlan,
  page: Page,
  start: number,
  deadline: number,
): Promise<{ low: number; isOver: boolean }> {
  let low = Math.min(start, plan.newest + 1)
  let span = FIRST_SPAN
  let expected = Number.POSITIVE_INFINITY
  const { conversations, threads } = plan.filters
  const batchSizes =
    ctx.db.dialect === 'sqlite' && conversations.length + threads.length > 0 ? NARROW_BATCH_SIZES : BATCH_SIZES
  let steps = 0
  while (low > plan.oldest && !page.isFull()) {
    const bounds = {
      before: low,
      span,
      limit: batchSizes[steps] ?? batchSizes[2],
      isFirst: steps === 0,
      expected,
      deadline,
    }
    steps++
    const options = { timeout: Math.max(MIN_STEP_MS, deadline - performance.now()), by_index: true } as const
    try {
      const done = await ctx.db.snapshot((db) => step(db, plan, page, bounds), options)
      // Others may have left changes. Not within the snapshot, of which the indexer would be a part.
      if (done.hasChanged) ctx.search.wake()
      low = done.low
      const left = low - plan.oldest
      const next = nextSpan(span, done, left)
      expected = expectedHits({ ...done, span }, next, left)
      span = next
    } catch (error) {
      if (!isOutOfTime(error)) throw error
      // What is newer than its last result was compared.
      return { low: Math.min(low, page.low() ?? low), isOver: true }
    }
    if (low > plan.oldest && performance.now() > deadline) return { low, isOver: true }
    await turn()
  }
  return { low, isOver: false }
}

/** Where a step begins, how far it looks, for how many messages, and when it ends after the text in progress. */
interface Bounds {
  before: number
  span: Span
  limit: number
  isFirst: boolean
  expected: number
  deadline: number
}

/**
 * One step, of one moment: what has changed since the index knows it is compared itself.
 *
 * @returns how far it looked, how many messages the index had there, whether there was more than it takes at once, and
 *   whether the index lacks changes
 */
async function step(
  db: Queries,
  plan: SearchPlan,
  page: Page,
  { deadline, ...part }: Bounds,
): Promise<{ low: number; hits: number; isOwn: boolean; isDense: boolean; hasChanged: boolean }> {
  const entries = await findEntries(db, plan.wanted, part)
  const { isOwn } = entries
  const hits = entries.docs.length
  const changed = await listChangedBetween(db, entries.low, part.before, BATCH_SIZES[0])
  const hasChanged = changed.length > 0
  const low = changed.length === BATCH_SIZES[0] ? Math.max(entries.low, changed.at(-1)!) : entries.low
  const docs = new Set([...entries.docs.filter((doc) => doc >= low), ...changed])
  const readable = docs.size > 0 ? await listReadable(db, [...docs], page.actor.user_id, plan.filters) : []
  const isDense = hits === part.limit || changed.length === BATCH_SIZES[0]
  const until = Math.min(deadline, performance.now() + STEP_MS)
  for (let n = 0; n < readable.length && !page.isFull(); ) {
    const { matches, read } = await readHits(db, plan, page.actor, readable.slice(n, n + TEXTS), until)
    for (const hit of matches) if (!page.isFull()) page.add(hit)
    n += read
    if (n < readable.length && performance.now() > until)
      return { low: readable[n - 1]!.doc, hits, isOwn, isDense: true, hasChanged }
  }
  return { low, hits, isOwn, isDense, hasChanged }
}

/**
 * The messages among these that match the search, in their order.
 *
 * @returns them, and how many messages were compared until the deadline: at least one
 */
async function readHits(
  db: Queries,
  plan: SearchPlan,
  actor: Actor,
  places: readonly Readable[],
  deadline: number,
): Promise<{ matches: Hit[]; read: number }> {
  const long = places.filter(({ content }) => content === null)
  const rowBy = await readRows(db, long)
  const hits: { place: Readable; excerpts: SearchExcerpt[] }[] = []
  const run = createStepRunner(TURN_MS)
  let read = 0
  for (const place of places) {
    const text = place.content === null ? rowBy.get(place.id) : place
    const excerpts = text && (await run(match({ ...(text as Omit<Compared, 'title'>), title: place.title }, plan)))
    if (excerpts) hits.push({ place, excerpts })
    read++
    if (performance.now() > deadline) break
  }
  if (hits.length === 0) return { matches: [], read }
  const short = hits.filter(({ place }) => !rowBy.has(place.id)).map(({ place }) => place)
  for (const [id, row] of await readRows(db, short)) rowBy.set(id, row)
  return { matches: await toHits(db, actor, hits, rowBy), read }
}

/** The messages, with their texts, by id. */
async function readRows(db: Queries, places: readonly Readable[]): Promise<Map<string, MessageRow>> {
  if (places.length === 0) return new Map()
  const ids = places.map(({ id }) => id)
  const rows = await withTexts(db, await listLightMessages(db, ids))
  return new Map(rows.map((row) => [row.id, row]))
}

async function toHits(
  db: Queries,
  actor: Actor,
  hits: readonly { place: Readable; excerpts: SearchExcerpt[] }[],
  rowBy: ReadonlyMap<string, MessageRow>,
): Promise<Hit[]> {
  const rows = hits.map(({ place }) => rowBy.get(place.id)!)
  const titles = await listTitles(db, new Set(rows.map(({ conversation_id }) => conversation_id)))
  const messages = await withOwn(db, actor.user_id, rows.map(toMessage))
  return hits.map(({ place: { doc }, excerpts }, n) => {
    const { conversation_id: id } = rows[n]!
    return { message: messages[n]!, conversation: { id, title: titles.get(id) ?? '' }, excerpts, doc }
  })
}

/** What is compared of a message. */
type Compared = Pick<MessageRow, 'content' | 'prompt' | 'attachment_list' | 'status'> & Pick<Readable, 'title'>

/** The excerpts of a message that has all phrases and none of the others; else `undefined`. */
function* match(row: Compared, { all, none, needs_link }: SearchPlan): Steps<SearchExcerpt[] | undefined> {
  // An answer is searched once it is written.
  const content = isUnderWay(row) ? '' : row.content
  if (needs_link && !(yield* hasLink({ content, prompt: row.prompt }))) return undefined
  const texts: { field: SearchExcerpt['field']; text: string | null }[] = [
    { field: 'title', text: row.title },
    { field: 'content', text: content },
    { field: 'prompt', text: row.prompt },
    ...fileNames(row.attachment_list).map((text) => ({ field: 'attachment' as const, text })),
  ]
  const excerpts: SearchExcerpt[] = []
  const missing = new Set(all)
  for (const { field, text } of texts) {
    if (!text) continue
    const places = yield* findPlaces(text, [...all, ...none])
    if (places.slice(all.length).some((place) => place !== undefined)) return undefined
    const matches = places.slice(0, all.length)
    for (const [n, phrase] of all.entries()) if (matches[n]) missing.delete(phrase)
    const excerpt = toExcerpt(
      text,
      matches.filter((place) => place !== undefined),
    )
    // If the names of several files match, the first.
    if (excerpt && !excerpts.some((place) => place.field === field)) excerpts.push({ field, ...excerpt })
  }
  return missing.size > 0 ? undefined : excerpts
}
