import type { ConversationSummary } from '../../chat/conversations/schema.ts'
import { list as listConversations } from '../../chat/conversations/service.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { bind } from '../../core/use-case.ts'
import type { McpMethod } from '../call.ts'
import { FIXED_TTL_MS } from '../discover.ts'
import { insufficientScope, invalidParams } from '../failures.ts'
import { takeFromLimit } from '../limit.ts'
import { toUri } from './uri.ts'

/** The number of conversations of a page. */
const PAGE = 50

/** Lists the conversations of the user, latest activity first. */
export const listResources: McpMethod = {
  revisions: 'all',
  ttl_ms: 0,
  prepare({ ctx, actor, scopes, request }) {
    const { cursor } = request.params
    if (!scopes.has('chat:read')) throw insufficientScope('chat:read')
    const isCursor = cursor === undefined || (typeof cursor === 'string' && cursor.length <= MAX_LENGTH.token)
    if (!isCursor) throw invalidParams('"cursor" is not one of this list.')
    return {
      async run() {
        await takeFromLimit(ctx, actor, { method: 'GET', path: '/api/conversations' })
        try {
          const query = { limit: PAGE, ...(cursor !== undefined && { after: cursor as string }) }
          const { conversations, next_after } = await bind(ctx, listConversations)(actor, query)
          return {
            resources: conversations.map(toResource),
            ...(next_after !== undefined && { nextCursor: next_after }),
          }
        } catch (error) {
          if (error instanceof ChatError && error.status === 422)
            throw invalidParams('"cursor" is not one of this list.')
          throw error
        }
      },
    }
  },
}

function toResource({ id, title, with: partner, last_activity_at }: ConversationSummary) {
  const name = title || partner?.display_name || partner?.username || 'Conversation'
  return {
    uri: toUri({ conversation_id: id }),
    name,
    mimeType: 'text/markdown',
    annotations: { lastModified: last_activity_at },
  }
}

/** Each begins with its latest or first messages, and says where to read on. */
const TEMPLATES = [
  {
    uriTemplate: 'chat://conversations/{conversation_id}{?cursor}',
    name: 'Conversation',
    description: 'The latest messages of a conversation, oldest first',
  },
  {
    uriTemplate: 'chat://conversations/{conversation_id}/threads/{root_id}{?cursor}',
    name: 'Thread',
    description: 'The messages of a thread, each before the replies to it',
  },
  {
    uriTemplate: 'chat://conversations/{conversation_id}/messages/{message_id}{?cursor}',
    name: 'Message',
    description: 'A message',
  },
].map((template) => ({ ...template, mimeType: 'text/markdown' }))

/** Lists what else can be read. */
export const listTemplates: McpMethod = {
  revisions: 'all',
  ttl_ms: FIXED_TTL_MS,
  prepare({ scopes, request }) {
    if (!scopes.has('chat:read')) throw insufficientScope('chat:read')
    if (request.params.cursor !== undefined) throw invalidParams('There is one page of templates: leave "cursor" out.')
    return { run: async () => ({ resourceTemplates: TEMPLATES }) }
  },
}
