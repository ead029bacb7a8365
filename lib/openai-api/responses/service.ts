import { cancel as cancelAnswer } from '../../chat/answers/service.ts'
import { get as getMessage } from '../../chat/messages/service.ts'
import { remove as removeMessage } from '../../chat/messages/service-changes.ts'
import { useCase } from '../../core/use-case.ts'
import { beginOf, parseResponseId, readResponse } from './reading.ts'
import { questionItem } from './rules-questions.ts'
import type { DeletedResponseObject, ItemList, ResponseObject } from './schema.ts'

/** Stops an answer; one that has ended stays as it is. @throws ChatError `not_found`, `forbidden` */
export const cancel = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, responseId): Promise<ResponseObject> => {
    const { id, segment } = parseResponseId(responseId)
    await beginOf(ctx, actor, { message_id: id, segment })
    await cancelAnswer.run(ctx, actor, id)
    return readResponse(ctx, actor, { message_id: id, segment })
  },
})

/** Deletes an answer with its question. @throws ChatError `not_found`, `forbidden` */
export const remove = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, responseId): Promise<DeletedResponseObject> => {
    const { id, segment } = parseResponseId(responseId)
    await beginOf(ctx, actor, { message_id: id, segment })
    await removeMessage.run(ctx, actor, id, {})
    return { id: responseId, object: 'response', deleted: true }
  },
})

/** The question of a response. @throws ChatError `not_found` */
export const listInput = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found'],
  run: async (ctx, actor, responseId): Promise<ItemList> => {
    const { id, segment } = parseResponseId(responseId)
    await beginOf(ctx, actor, { message_id: id, segment })
    const message = await getMessage.run(ctx, actor, id)
    const asked =
      message.prompt === undefined && message.parent_id ? await getMessage.run(ctx, actor, message.parent_id) : message
    return toList([questionItem(asked)])
  },
})

/** All items of a short list. */
const toList = (data: ItemList['data']): ItemList => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: false,
})
