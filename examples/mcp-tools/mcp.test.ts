import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import type { ToolCall } from '../../lib/assistant/tools/definition.ts'
import { toTool } from '../../lib/assistant/tools/hosted.ts'
import { OPERATOR, ToolFailure } from '../../lib/index.ts'
import { toolsOf } from './mcp.ts'

const calls: unknown[] = []

/** A server with two tools, as the SDK makes it: without sessions, a server for each request. */
function createShop(): McpServer {
  const shop = new McpServer({ name: 'shop', version: '1.0.0' })
  const inputSchema = { order: z.string().regex(/^A-\d+$/) }
  const outputSchema = { cents: z.number() }
  shop.registerTool(
    'find_order',
    { title: 'Find order', description: 'Finds', inputSchema, outputSchema },
    ({ order }) => ({
      structuredContent: { cents: 5000 },
      content: [
        { type: 'text', text: '{"cents":5000}' },
        { type: 'resource_link', uri: `https://shop.example.org/${order}`, name: order },
        { type: 'resource_link', uri: 'file:///etc/passwd', name: 'passwd' },
      ],
    }),
  )
  shop.registerTool('refund', { description: 'Pays back', inputSchema }, ({ order }, { _meta }) => {
    calls.push(_meta)
    if (order === 'A-1') return { isError: true, content: [{ type: 'text', text: 'There is no order A-1.' }] }
    return {
      content: [
        { type: 'text', text: 'Paid' },
        { type: 'text', text: 'back.' },
      ],
    }
  })
  return shop
}

async function connect(): Promise<Client> {
  const server = createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    response.on('close', () => void transport.close())
    await createShop().connect(transport)
    await transport.handleRequest(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new Client({ name: 'chat', version: '1.0.0' })
  const { port } = server.address() as AddressInfo
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return client
}

const CALL: ToolCall = {
  ...{ call_id: 'call-1', attempt: 1, actor: OPERATOR, user: { id: 'u', username: 'ada' } },
  ...{ conversation_id: 'c', message_id: 'm', assistant: 'assistant', signal: new AbortController().signal },
}

it('makes the chosen tools of an MCP server tools of the chat', async () => {
  const client = await connect()
  const tools = await toolsOf(client, { find_order: {}, refund: { approval: { by: 'admins' }, title: 'Refund' } })
  const [find, refund] = Object.entries(tools).map(([name, tool]) => toTool(name, tool))
  expect(find).toMatchObject({
    name: 'find_order',
    title: 'Find order',
    description: 'Finds',
    fixedApproval: undefined,
  })
  expect(find!.schema).toMatchObject({ type: 'object', properties: { order: { type: 'string' } }, required: ['order'] })
  expect(refund).toMatchObject({ title: 'Refund', fixedApproval: { by: 'admins', quorum: 1 } })

  expect(await find!.validate({ order: 'A-7' })).toEqual({ value: { order: 'A-7' } })
  expect((await find!.validate({ order: 7 })).issues).toContain('order')
  expect(await find!.run({ order: 'A-7' }, CALL)).toEqual({
    output: { cents: 5000 },
    parts: [{ source: { url: 'https://shop.example.org/A-7', title: 'A-7' } }],
  })
  expect(await refund!.run({ order: 'A-7' }, CALL)).toEqual({ output: 'Paid\nback.', parts: [] })
  expect(calls).toMatchObject([{ call_id: 'call-1' }])
  await expect(refund!.run({ order: 'A-1' }, CALL)).rejects.toThrow(new ToolFailure('There is no order A-1.'))
  await expect(refund!.run({ order: 'A-7' }, { ...CALL, signal: AbortSignal.abort() })).rejects.toThrow()
})

it('refuses a tool that the server does not have', async () => {
  await expect(toolsOf(await connect(), { pay: {} })).rejects.toThrow('The MCP server has no tool pay')
})
