import { setImmediate as turn } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { fit, PAGE_BYTES } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { listLightMessages, type MessageRow, toMessage, withTexts } from '../messages/store.ts'
import { withReacted } from '../messages/store-reactions.ts'
import { hasLink } from './rules.ts'
import { excerptOf } from './rules-excerpt.ts'
import { findPhrase, type Phrase } from './rules-query.ts'
import { atomsOf } from './rules-words.ts'
import type { SearchExcerpt, SearchResult } from './schema.ts'
import { listChangedBetween, listReadable, listTitles, type Narrowed } from './store.ts'
import { findEntries, type Wanted } from './store-index.ts'

/** A search: what the index is asked, and what each hit must have. */
export interface Hunt {
  wanted: Wanted
  all: readonly Phrase[]
  none: readonly Phrase[]
  needs_link: boolean
  narrowed: Narrowed
  /** The numbers of the oldest and of the newest message. */
  oldest: number
  newest: number
}

/** How many messages the index is asked for at once, and how many texts are read at once. */
const LOOK = 100
const TEXTS = 20

/** How long texts are compared in one step: on SQLite the other calls of the process wait for its end. */
const STEP_MS = 20

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
    isFull: () => hits.length > limit || (hits.length > 1 && units > PAGE_BYTES),
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
export async function look(
  ctx: Pick<Context, 'db' | 'search'>,
  hunt: Hunt,
  page: Page,
  start: number,
  deadline: number,
): Promise<{ low: number; isOver: boolean }> {
  let low = Math.min(start, hunt.newest + 1)
  let width = 1
  while (low > hunt.oldest && !page.isFull()) {
    const done = await ctx.db.snapshot((db) => step(db, hunt, page, { before: low, width, deadline }, ctx.search.wake))
    low = done.low
    // Where there are many, a wide look would read them all for the few that are taken.
    width = done.isDense ? Math.max(1, width / 4) : width * 4
    if (low > hunt.oldest && performance.now() > deadline) return { low, isOver: true }
    await turn()
  }
  return { low, isOver: false }
}

/** Where a step begins, how many blocks of PostgreSQL it reads, and when it ends after the text in progress. */
interface Bounds {
  before: number
  width: number
  deadline: number
}

/**
 * One step, of one moment: what has changed since the index knows it is compared itself.
 *
 * @returns how far it looked, and whether there was more than it takes at once
 */
async function step(
  db: Queries,
  hunt: Hunt,
  page: Page,
  { before, width, deadline }: Bounds,
  wake: () => void,
): Promise<{ low: number; isDense: boolean }> {
  const found = await findEntries(db, hunt.wanted, before, LOOK, width)
  const changed = await listChangedBetween(db, found.low, before, LOOK)
  // Others may have left them.
  if (changed.length > 0) wake()
  const low = changed.length === LOOK ? Math.max(found.low, changed.at(-1)!) : found.low
  const docs = new Set([...found.docs.filter((doc) => doc >= low), ...changed])
  const readable = docs.size > 0 ? await listReadable(db, [...docs], page.actor.user_id, hunt.narrowed) : []
  const isDense = Math.max(found.docs.length, changed.length) === LOOK
  const until = Math.min(deadline, performance.now() + STEP_MS)
  for (let n = 0; n < readable.length && !page.isFull(); ) {
    const { hits, read } = await readHits(db, hunt, page.actor, readable.slice(n, n + TEXTS), until)
    for (const hit of hits) if (!page.isFull()) page.add(hit)
    n += read
    if (n < readable.length && performance.now() > until) return { low: readable[n - 1]!.doc, isDense: true }
  }
  return { low, isDense }
}

/**
 * Those of these messages that have what is searched for, in their order.
 *
 * @returns them, and how many messages were compared until the deadline: at least one
 */
async function readHits(
  db: Queries,
  hunt: Hunt,
  actor: Actor,
  places: { id: string; doc: number }[],
  deadline: number,
): Promise<{ hits: Hit[]; read: number }> {
  const rows = await withTexts(
    db,
    await listLightMessages(
      db,
      places.map(({ id }) => id),
    ),
  )
  const rowBy = new Map(rows.map((row) => [row.id, row]))
  const matches: { row: MessageRow; doc: number; excerpts: SearchExcerpt[] }[] = []
  let read = 0
  for (const { id, doc } of places) {
    const row = rowBy.get(id)
    const excerpts = row && !row.deleted_at ? match(row, hunt) : undefined
    if (excerpts) matches.push({ row: row!, doc, excerpts })
    read++
    if (performance.now() > deadline) break
  }
  if (matches.length === 0) return { hits: [], read }
  const titles = await listTitles(db, new Set(matches.map(({ row }) => row.conversation_id)))
  const messages = await withReacted(
    db,
    actor.user_id,
    matches.map(({ row }) => toMessage(row)),
  )
  const hits = matches.map(({ row, doc, excerpts }, n) => ({
    message: messages[n]!,
    conversation: { id: row.conversation_id, title: titles.get(row.conversation_id) ?? '' },
    excerpts,
    doc,
  }))
  return { hits, read }
}

/** The excerpts of a message that has all phrases and none of the others; else `undefined`. */
function match(row: MessageRow, { all, none, needs_link }: Hunt): SearchExcerpt[] | undefined {
  // An answer is searched once it is written.
  const content = row.status === 'streaming' ? '' : row.content
  if (needs_link && !hasLink({ content, prompt: row.prompt })) return undefined
  const fields = (['content', 'prompt'] as const).flatMap((field) => {
    const text = field === 'content' ? content : row.prompt
    return text ? [{ field, text, atoms: atomsOf(text) }] : []
  })
  const has = (phrase: Phrase) => fields.some(({ atoms }) => findPhrase(atoms, phrase) !== undefined)
  if (!all.every(has) || none.some(has)) return undefined
  return fields.flatMap(({ field, text, atoms }) => {
    const excerpt = excerptOf(text, atoms, all)
    return excerpt ? [{ field, ...excerpt }] : []
  })
}
