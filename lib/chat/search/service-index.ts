import { assertOperator } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { insertTask } from '../../tasks/store.ts'
import { RebuildInput, type SearchStatus } from './schema.ts'
import { countChanges, findPostedAt, findState, isFilling } from './store.ts'
import { clearIndex, measureIndex } from './word-index.ts'

/** The state of the search index. Only for the operator. @throws ChatError `forbidden` */
export const status = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: async ({ db, config }, actor): Promise<SearchStatus> => {
    assertOperator(actor)
    const state = await findState(db)
    const { documents, bytes, oldest } =
      state !== undefined ? await measureIndex(db) : { documents: 0, bytes: 0, oldest: null }
    const oldest_at = oldest === null ? undefined : await findPostedAt(db, oldest)
    return {
      enabled: config.search.enabled,
      documents,
      ...(await countChanges(db)),
      filling: await isFilling(db),
      ...(oldest_at !== undefined && { reaches_back_to: toInstant(oldest_at) }),
      ...(state !== undefined && { analysis: state }),
      bytes,
    }
  },
})

/**
 * Has the running service index all messages again, the newest first. With `from_scratch` the index is emptied first,
 * and searches are `incomplete` until it is filled. Only for the operator.
 *
 * @throws ChatError `forbidden`
 */
export const rebuild = useCase({
  takes: ['actor'],
  input: RebuildInput,
  errors: ['forbidden'],
  run: async ({ db }, actor, { from_scratch }): Promise<void> => {
    assertOperator(actor)
    await db.write(
      async (tx) => {
        if (from_scratch) await clearIndex(tx)
        await insertTask(tx, newId(), { kind: 'search.fill', key: '' })
      },
      { timeout: false },
    )
  },
})
