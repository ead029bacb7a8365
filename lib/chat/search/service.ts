import { listUsersCalled } from '../../accounts/users/store-names.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { NO_ID } from '../../core/ids.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { isStorable } from '../../core/schema.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { requireMember } from '../memberships/access.ts'
import { listKnown } from '../people/reach.ts'
import { findThreadConversation } from '../threads/store.ts'
import { parseSearch } from './parse.ts'
import { indexVersion, scopeWord } from './rules.ts'
import { indexTerms } from './rules-query.ts'
import { createPage, type SearchPlan, scan } from './scan.ts'
import { type SearchPage, SearchQuery } from './schema.ts'
import { findEnds, isIncomplete, listOwnConversations } from './store.ts'

/** Up to this many conversations of the caller are part of the query of the index. */
const MAX_CONVERSATIONS = 200

/** The maximum number of users with one display name that a search includes. */
const MAX_AUTHORS = 200

/**
 * Messages that have what is searched for, in the actor's conversations, newest first.
 *
 * It ends after `search.budget_ms`: then the page is `partial`. At most four searches at a time in a process, further ones
 * wait inside their budget.
 *
 * @throws ChatError `not_found` for a conversation or thread that is not the actor's, and with `search.enabled = false`;
 *   `invalid_cursor` also for a cursor of another query; `rate_limited`
 */
export const messages = useCase({
  takes: ['actor'],
  input: SearchQuery,
  errors: ['not_found', 'invalid_cursor', 'rate_limited', 'validation_failed'],
  run: async (ctx, actor, input): Promise<SearchPage> => {
    if (!ctx.search.isOn()) throw new ChatError('not_found')
    const search = parseSearch(input)
    const start = readCursor(input.cursor, search.digest)
    const deadline = performance.now() + ctx.config.search.budget_ms
    ctx.search.spend(actor.user_id)
    const end = await ctx.search.acquire(actor.user_id, deadline)
    const cursorAt = (doc: number) => `${doc}_${search.digest}`
    const unknown = search.unknown_filters.length > 0 && { unknown_filters: search.unknown_filters }
    if (!end) return { results: [], partial: true, next_cursor: cursorAt(start), ...unknown }
    try {
      // It may end before this search does, behind what this search reads.
      const incomplete = await isIncomplete(ctx.db, indexVersion(ctx.db.dialect))
      const hunt = await ctx.db.snapshot((db) => prepare(ctx, db, actor, search))
      const page = createPage(actor, input.limit)
      const { low, isOver } = hunt ? await scan(ctx, hunt, page, start, deadline) : { low: 0, isOver: false }
      const { results, next } = page.end()
      const place = next ?? (isOver ? low : undefined)
      return {
        results,
        ...(place !== undefined && { next_cursor: cursorAt(place) }),
        ...(next === undefined && isOver && { partial: true as const }),
        ...(incomplete && { incomplete: true as const }),
        ...unknown,
      }
    } finally {
      end()
    }
  },
})

function readCursor(cursor: string | undefined, digest: string): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  const [, doc, of] = /^(\d{1,16})_([0-9a-f]{16})$/.exec(cursor) ?? []
  if (of !== digest || Number(doc) > Number.MAX_SAFE_INTEGER) throw new ChatError('invalid_cursor')
  return Number(doc)
}

/** What the index and each hit must match; `undefined` if nothing can be found. @throws ChatError `not_found`, `forbidden` */
async function prepare(
  ctx: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  search: ReturnType<typeof parseSearch>,
): Promise<SearchPlan | undefined> {
  const { all, none, has, before, after, filters: narrowing } = search
  for (const id of narrowing.in) await requireMember(ctx, db, actor, ID.test(id) ? id : undefined)
  for (const id of narrowing.thread)
    await requireMember(ctx, db, actor, ID.test(id) ? await findThreadConversation(db, id) : undefined)
  const authors = await Promise.all(narrowing.from.map((from) => listAuthors(ctx, db, actor, from)))
  const own =
    narrowing.in.length + narrowing.thread.length > 0
      ? undefined
      : await listOwnConversations(db, actor.user_id, MAX_CONVERSATIONS + 1)
  if (own?.length === 0) return undefined
  const groups = [
    ...narrowing.in.map((id) => [scopeWord.conversation(id)]),
    ...narrowing.thread.map((id) => [scopeWord.thread(id)]),
    ...authors.map((ids) => ids.map(scopeWord.author)),
    ...(has.has('file') ? [[scopeWord.file]] : []),
    ...(has.has('link') ? [[scopeWord.link]] : []),
    ...(has.has('mention') ? [[scopeWord.mention]] : []),
  ]
  return {
    wanted: {
      all: all.flatMap(indexTerms),
      groups,
      own: own && own.length <= MAX_CONVERSATIONS ? own.map(scopeWord.conversation) : [],
    },
    all,
    none,
    needs_link: has.has('link'),
    ...(await findEnds(db)),
    filters: {
      conversations: narrowing.in,
      threads: narrowing.thread,
      authors,
      before,
      after,
      is_pinned: has.has('pin'),
      has_file: has.has('file'),
      has_reaction: has.has('reaction'),
      has_mention: has.has('mention'),
    },
  }
}

// As ids are written; another text would be several words of an index.
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The ids of the users that are meant by an id, `@` and a username, or a username or display name. Where the actor may know
 * of none, the id of no user is searched for: an early end would tell that a user exists.
 */
async function listAuthors(ctx: Pick<Context, 'access'>, db: Queries, actor: Actor, from: string): Promise<string[]> {
  const known = await listKnown(ctx, db, actor, await listMeant(db, from))
  return known.length === 0 ? [NO_ID] : known
}

async function listMeant(db: Queries, from: string): Promise<string[]> {
  if (ID.test(from)) return [from]
  if (!isStorable(from) || from.length > MAX_LENGTH.name) return []
  return listUsersCalled(db, from, MAX_AUTHORS)
}
