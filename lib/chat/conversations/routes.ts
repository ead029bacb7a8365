import { route } from '../../endpoint.ts'
import { Conversation, ConversationPage, EnsuredConversation, OpenedConversation } from './schema.ts'
import { ConversationSettings } from './schema-settings.ts'
import * as service from './service.ts'
import * as ofClient from './service-client.ts'
import * as ofSettings from './service-settings.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'Create a conversation',
  description:
    'The caller becomes its owner. With `is_group: false` it has at most two participants. Without a `layout` it gets `conversations.default_layout`. A `ref` is for administrators and system actors, and `conflict` if another conversation has it; with `ensure: true` that one is returned (200).',
  access: 'session',
  example: { title: 'Engines' },
  status: 201,
  status_unless_created: 200,
  output: EnsuredConversation,
  run: ofClient.createByClient,
})

export const direct = route({
  method: 'POST',
  path: '/api/conversations/direct',
  tag: 'Conversations',
  summary: 'Open the direct conversation with a user',
  description:
    'Two users have one direct conversation: the first call creates it (201), later ones of either return it (200). Takes either a user id or a username; one of your own is for notes to yourself. It is then no longer archived for you.',
  access: 'session',
  example: { username: 'grace' },
  status: 201,
  status_unless_created: 200,
  output: OpenedConversation,
  run: ofClient.directByClient,
})

export const get = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Read a conversation with its participants',
  description: 'With the first 200 participants, their roles and their presence.',
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: Conversation,
  run: service.get,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'List your conversations, latest activity first',
  description: 'The conversations in which the caller participates, with their unread counts. Continue with `after`.',
  access: 'session',
  output: ConversationPage,
  run: service.list,
})

export const rename = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Change the title, the look, the metadata or the policy of a conversation',
  description:
    'Allowed for owners; the layout, the topic, the icon and the policy also for admins; a frozen conversation is changed only by ending that; the `ref` only for owners who are administrators. Missing fields keep their value. Participants get `conversation.updated`.',
  access: 'session',
  example: { title: 'Difference engines' },
  response_headers: { 'Stream-Position': 'always' },
  output: Conversation,
  run: ofClient.renameByClient,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with everything in it',
  description: 'Allowed for owners. Deletes everything in it and ends its streams. It cannot be undone.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const settings = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/settings',
  tag: 'Conversations',
  summary: 'Read your own settings for a conversation',
  description:
    'Of which messages you are notified, whether it is muted, archived, or among your favourites, and whether you share what you read.',
  access: 'session',
  output: ConversationSettings,
  run: ofSettings.settings,
})

export const setSettings = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}/settings',
  tag: 'Conversations',
  summary: 'Change your own settings for a conversation',
  description:
    'Every participant may, in every role. Beyond 100 favourites: `conflict`. Missing fields keep their value. No other participant sees them; your own streams of all conversations get `settings.update`.',
  access: 'session',
  example: { level: 'all', muted_until: 'forever' },
  output: ConversationSettings,
  run: ofSettings.setSettings,
})
