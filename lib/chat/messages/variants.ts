import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import { layoutOf } from '../memberships/rules-look.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import { postedRole } from './rules.ts'
import type { Message } from './schema.ts'
import { type FirstRow, listFirsts } from './store-variants.ts'

/** A question whose answer is to be a variant of another one. */
interface Place {
  role: Message['role']
  conversation_id: string
  parent_id: string | null
}

/** Makes answers variants of others; `undefined` without any. */
export function createVariants(_: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  const ids = new Set(posts.flatMap(({ input }) => input.variant_of ?? []))
  if (ids.size === 0) return undefined
  let rows: FirstRow[] = []
  return {
    /** The conversation is locked: no message of it is deleted in the meantime. */
    async load(tx) {
      rows = await listFirsts(tx, ids)
    },

    /** @throws ChatError as {@link firstOf} */
    decide({ actor, input, where }, { target }) {
      const { variant_of } = input
      if (variant_of === undefined) return undefined
      const { conversation_id } = target
      const role = postedRole(actor, input.role, layoutOf(target))
      const parent_id = 'parent_id' in where ? where.parent_id : null
      const row = rows.find(({ id }) => id === variant_of)
      return { variant_of: firstOf(row, { role, conversation_id, parent_id }) }
    },

    add() {},
    store() {},
  }
}

/**
 * The first answer of the set to which a variant of this answer belongs.
 *
 * @throws ChatError `validation_failed` unless both are answers in one place; `message_deleted`
 */
function firstOf(row: FirstRow | undefined, { role, conversation_id, parent_id }: Place): string {
  const isBeside = row?.conversation_id === conversation_id && row.parent_id === parent_id
  if (role !== 'assistant' || !isBeside || row.role !== 'assistant')
    throw new ChatError('validation_failed', {
      errors: [{ path: 'variant_of', message: 'must be an answer in the same place as this one' }],
    })
  if (row.is_deleted) throw new ChatError('message_deleted')
  return row.first_id
}

/** Refuses a post that cannot be a variant of this answer. @throws ChatError as {@link firstOf} */
export async function checkVariant(db: Queries, id: string, place: Place): Promise<void> {
  firstOf((await listFirsts(db, [id]))[0], place)
}
