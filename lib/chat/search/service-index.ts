import { isOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { hasTable } from '../../storage/catalog.ts'
import { insertTask } from '../../tasks/store.ts'
import { RebuildInput, type SearchStatus } from './schema.ts'
import { countChanges, findState, isFilling } from './store.ts'
import { clearIndex, measureIndex } from './store-index.ts'

/** The state of the search index. Only for the operator. @throws ChatError `forbidden` */
export const status = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: async ({ db, config }, actor): Promise<SearchStatus> => {
    if (!isOperator(actor)) throw new ChatError('forbidden')
    const state = await findState(db)
    const isThere = state !== undefined && (db.dialect === 'postgresql' || (await hasTable(db, 'search_index')))
    const { documents, bytes, oldest_at } = isThere
      ? await measureIndex(db)
      : { documents: 0, bytes: 0, oldest_at: null }
    return {
      enabled: config.search.enabled,
      documents,
      ...(await countChanges(db)),
      filling: await isFilling(db),
      ...(oldest_at !== null && { reaches_back_to: toInstant(oldest_at) }),
      ...(state !== undefined && { analysis: state }),
      bytes,
    }
  },
})

/**
 * Has the running service index all messages anew, the newest first. With `from_scratch` the index is emptied first, and
 * searches are `incomplete` until it is filled. Only for the operator.
 *
 * @throws ChatError `forbidden`
 */
export const rebuild = useCase({
  takes: ['actor'],
  input: RebuildInput,
  errors: ['forbidden'],
  run: async ({ db }, actor, { from_scratch }): Promise<void> => {
    if (!isOperator(actor)) throw new ChatError('forbidden')
    await db.write(
      async (tx) => {
        if (from_scratch) await clearIndex(tx)
        await insertTask(tx, newId(), { kind: 'search.fill', key: '' })
      },
      { timeout: false },
    )
  },
})
