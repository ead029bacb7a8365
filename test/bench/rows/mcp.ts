import { META, MODERN } from '../../../lib/mcp/protocol.ts'
import { httpRequest } from '../load/http.ts'
import { createPeople, numbers, withChat } from '../servers/people.ts'
import { compareCpu } from './compared.ts'

const CONVERSATIONS = 50

/** The list that an agent reads, by its tool and by the route of the same use-case. */
export const mcpList = compareCpu(
  {
    name: 'mcp-list',
    title: `CPU of the tool list_conversations, ${CONVERSATIONS} conversations, 16 under way`,
    peer: 'GET /api/conversations',
    reach: 1.2,
    beyond: 1,
  },
  16,
  async (database) => {
    const { people } = await createPeople(
      database,
      1,
      numbers(CONVERSATIONS).map(() => [0]),
    )
    const key = await withChat(database, async (chat) => {
      const actor = await chat.users.actor(people[0]!.user_id)
      return (await chat.keys.create(actor, { name: 'agent' })).key
    })
    const authorization = `Bearer ${key}`
    const _meta = { [META.version]: MODERN, [META.capabilities]: {} }
    const call = httpRequest('POST', '/mcp', {
      headers: {
        authorization,
        accept: 'application/json',
        'mcp-protocol-version': MODERN,
        'mcp-method': 'tools/call',
        'mcp-name': 'list_conversations',
      },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_conversations', arguments: { limit: CONVERSATIONS }, _meta },
      },
    })
    const route = httpRequest('GET', `/api/conversations?limit=${CONVERSATIONS}`, { headers: { authorization } })
    return { service: [call], peer: [route] }
  },
  { CHAT_FEATURES__MCP: 'true' },
)
