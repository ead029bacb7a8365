import type { AssistantSettings } from '../../context.ts'
import { assertMay, may, toRefused } from '../../core/access.ts'
import { isHook, isProgram } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import { refusalToAsk } from '../assistants/rules.ts'
import { layoutOf } from '../memberships/rules-look.ts'
import { keysAt, placesAsking } from '../mentions/rules-asking.ts'
import { MAX_ASKED } from '../mentions/schema.ts'
import { listNamed } from '../mentions/store.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import { postedRole, wantedRole } from './rules.ts'
import { type AnsweredBy, findAnswerAbove, listAssistants } from './store-asking.ts'
import type { LockedTarget, Target } from './store-posts.ts'

/** What decides which assistants a post asks: its conversation, and the role of its author in it. */
export type PlaceOfQuestion = Pick<
  LockedTarget,
  'n' | 'is_direct' | 'layout' | 'assistant' | 'role' | 'policy' | 'frozen_at'
>

/** The assistants that a post asks. */
export interface AskedAssistants {
  /** Whether the post itself is a question, which one assistant answers. */
  isQuestion: boolean
  keys: string[]
}

/**
 * Decides which assistants write answers: the one of each question, and those that a message names. Posts that share a
 * transaction with those of others are no questions, and have no such part.
 */
export function createAsking(ctx: PostContext, posts: readonly NewPost[]): PostPart {
  const { load, askedBy } = createAsked(ctx, posts)
  return {
    load,
    /** @throws ChatError `forbidden`, `conflict`, `validation_failed` for an assistant that the post cannot ask */
    decide(post, { target }) {
      const { isQuestion, keys } = askedBy(post, target)
      if (!isQuestion) return keys.length > 0 ? { asked: keys.join(',') } : undefined
      const [key] = keys
      return { assistant: key !== undefined && ctx.assistants.find(key) ? key : null }
    },

    add: () => undefined,
    store: () => undefined,
  }
}

/** Looks up which assistants posts ask. */
export function createAsked(ctx: PostContext, posts: readonly NewPost[]) {
  const written = posts.map((post) => placesIn(ctx, post))
  const variants = new Map<string, AnsweredBy>()
  const above = new Map<string, { assistant: string | null }>()
  const named = new Map<number, Set<string>>()
  return {
    async load(db: Queries, targets: readonly Target[]): Promise<void> {
      const ids = new Set(posts.flatMap(({ input }) => input.variant_of ?? []))
      const places = targets.flatMap(({ n, conversation_id, parent_id }) => {
        const keys = [...new Set(written[n]!.flatMap(({ names }) => [...names.keys()]))]
        return keys.length > 0 ? [{ n, conversation_id, parent_id, keys: JSON.stringify(keys) }] : []
      })
      const [rows, participants] = await Promise.all([
        ids.size > 0 ? listAssistants(db, ids) : [],
        places.length > 0 ? listNamed(db, places) : [],
        ...posts.map(async ({ where, input }) => {
          if (!('parent_id' in where) || !mayInherit(ctx, input)) return
          const answer = await findAnswerAbove(db, where.parent_id, input.role === 'assistant')
          if (answer) above.set(where.parent_id, answer)
        }),
      ])
      for (const row of rows) variants.set(row.id, row)
      for (const { n, key } of participants) named.set(n, (named.get(n) ?? new Set()).add(key))
    },

    /** @throws ChatError `forbidden`, `conflict`, `validation_failed` for an assistant that the post cannot ask */
    askedBy(post: NewPost, target: PlaceOfQuestion): AskedAssistants {
      const { actor, input } = post
      const role = postedRole(actor, wantedRole(input), layoutOf(target))
      if (role === 'assistant') {
        assertPrompt(input, variants)
        const assistant = assistantOf(ctx, post, target, { variants, above })
        const refused = assistant && refusalToAsk(assistant, { ...target, actor })
        if (refused) throw toRefused(refused)
        return { isQuestion: true, keys: assistant ? [assistant.key] : [] }
      }
      if (input.assistant !== undefined) throw invalid('assistant', 'must be left out of a message that is no question')
      const isParticipant = (name: string) => named.get(target.n)?.has(name) ?? false
      const keys = namedBy(ctx, post, target, keysAt(written[target.n]!, isParticipant))
      return { isQuestion: false, keys }
    },
  }
}

/** Whether a message may ask assistants: it is stored alone. */
export function mayAskOthers(ctx: PostContext, post: NewPost): boolean {
  const { assistant, mentions } = post.input
  return assistant !== undefined || Boolean(mentions?.assistants?.length) || placesIn(ctx, post).length > 0
}

/** Only the posts of people are searched, and no question is. */
function placesIn({ assistants }: PostContext, { actor, input: { role, mentions, content, stream } }: NewPost) {
  if (isProgram(actor) || mentions !== undefined || role === 'assistant' || stream) return []
  // By a token that may write and not ask, the key of an assistant is text.
  if (actor.mcp_scopes?.includes('chat:ask') === false) return []
  return placesAsking(assistants, content)
}

const mayInherit = ({ assistants }: PostContext, { role, assistant, variant_of }: NewPost['input']): boolean =>
  assistants.offered.length > 1 && role !== 'user' && assistant === undefined && variant_of === undefined

/** The assistant of a question; `undefined` where none is offered and the echo stands in. */
function assistantOf(
  { assistants }: PostContext,
  { input, where }: NewPost,
  target: PlaceOfQuestion,
  known: { variants: ReadonlyMap<string, AnsweredBy>; above: ReadonlyMap<string, { assistant: string | null }> },
): AssistantSettings | undefined {
  if (input.assistant !== undefined) return requireAssistant(assistants, 'assistant', input.assistant)
  const { variants, above } = known
  const before = input.variant_of === undefined ? undefined : variants.get(input.variant_of)
  const answer = before ?? ('parent_id' in where ? above.get(where.parent_id) : undefined)
  // One without an assistant is by the default.
  const inherited = answer ? assistants.find(answer.assistant ?? assistants.fallback?.key ?? '') : undefined
  return inherited ?? (target.assistant ? assistants.find(target.assistant) : undefined) ?? assistants.fallback
}

/** @throws ChatError `validation_failed` for an empty question, except for another answer to a message that is the question */
function assertPrompt({ content, variant_of }: NewPost['input'], variants: ReadonlyMap<string, AnsweredBy>): void {
  if (content !== '' || variant_of === undefined || variants.get(variant_of)?.prompt_is_null !== 0) return
  throw invalid('content', 'must not be empty')
}

/** The keys of the assistants that a message names. */
function namedBy(
  ctx: PostContext,
  { actor, input }: NewPost,
  target: PlaceOfQuestion,
  found: readonly string[],
): string[] {
  const by = { ...target, actor }
  const keys = input.mentions?.assistants ?? []
  if (keys.length > 0) {
    if (isHook(actor)) throw new ChatError('forbidden', { reason: 'role' })
    const assistants = keys.map((key, n) => requireAssistant(ctx.assistants, `mentions.assistants[${n}]`, key))
    assertMay(ctx.access, by, 'ask')
    for (const assistant of assistants) {
      const refused = refusalToAsk(assistant, by)
      if (refused) throw toRefused(refused)
    }
    return [...new Set(keys)]
  }
  if (found.length === 0 || !may(ctx.access, by, 'ask')) return []
  const allowed = found.filter((key) => refusalToAsk(ctx.assistants.find(key)!, by) === undefined)
  return allowed.slice(0, MAX_ASKED)
}

/** @throws ChatError `validation_failed` for one that is not offered */
function requireAssistant(assistants: PostContext['assistants'], path: string, key: string): AssistantSettings {
  const assistant = assistants.find(key)
  if (!assistant) throw invalid(path, 'must be the key of an assistant of the service')
  return assistant
}
