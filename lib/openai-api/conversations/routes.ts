import { contextOf } from '../../core/context-of.ts'
import { route } from '../../endpoint.ts'
import { ConversationItem, ItemList } from '../responses/schema.ts'
import { OpenAiId } from '../schema-ids.ts'
import { ConversationObject, ConversationObjectInput } from './schema.ts'
import * as service from './service.ts'

const COMMON = { tag: 'Compatibility', access: 'session', by_token: true, is_protocol: true } as const
const ONE = { ...COMMON, params: { named_id: OpenAiId } } as const

export const createConversation = route({
  ...COMMON,
  method: 'POST',
  path: '/v1/conversations',
  summary: 'Make a conversation of OpenAI: a thread with a name',
  description:
    'Its first question begins the thread, in the conversation of this service that `metadata.conversation_id` names, else in a new one of the caller alone. The response has it there. `features.openai_api` offers it.',
  body: ConversationObjectInput,
  example: { metadata: {} },
  output: ConversationObject,
  errors: service.createConversation.errors,
  handler: ({ chat, actor, body }) => service.createOverHttp(contextOf(chat), actor, body),
})

export const getConversation = route({
  ...ONE,
  method: 'GET',
  path: '/v1/conversations/{named_id}',
  summary: 'Read a conversation of OpenAI',
  description: 'One that the caller has made.',
  output: ConversationObject,
  run: service.getConversation,
})

export const listItems = route({
  ...ONE,
  method: 'GET',
  path: '/v1/conversations/{named_id}/items',
  summary: 'List the items of a conversation of OpenAI',
  description:
    'Questions, texts, thoughts and calls of the branch down to the newest answer, newest first. Continue with `after`, the `last_id`.',
  output: ItemList,
  run: service.listItems,
})

export const getItem = route({
  ...ONE,
  method: 'GET',
  path: '/v1/conversations/{named_id}/items/{item_id}',
  params: { named_id: OpenAiId, item_id: OpenAiId },
  summary: 'Read an item of a conversation of OpenAI',
  description: 'As the list has it.',
  output: ConversationItem,
  run: service.getItem,
})
