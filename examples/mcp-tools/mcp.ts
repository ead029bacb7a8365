// The tools of an MCP server as tools of the chat. You choose which, and which need an approval: what a server says of its tools
// is no reason to trust them.
//
//   const client = new Client({ name: 'shop', version: '1.0.0' })
//   await client.connect(new StreamableHTTPClientTransport(new URL('https://shop.example.org/mcp')))
//   const tools = await toolsOf(client, { find_order: {}, refund: { approval: { by: 'admins' } } })
//   const chat = createChatService(config, storage, { tools })
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { CallToolResultSchema, type ContentBlock, type Tool } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { type DefinedTool, defineTool, type ToolDefinition, ToolFailure, type ToolPart, toolResult } from 'chat-server'

/** What the host decides about a tool. */
export type Choice = Pick<ToolDefinition<Input>, 'approval' | 'idempotent' | 'timeout_seconds' | 'show' | 'title'>

type Input = Record<string, unknown>

const checker = new AjvJsonSchemaValidator()

/**
 * The chosen tools of a server, by their names.
 *
 * @throws Error for a name that the server does not have
 */
export async function toolsOf(client: Client, choices: Record<string, Choice>): Promise<Record<string, DefinedTool>> {
  const listed = new Map((await listTools(client)).map((tool) => [tool.name, tool]))
  const chosen = Object.entries(choices).map(([name, choice]) => {
    const tool = listed.get(name)
    if (!tool) throw new Error(`The MCP server has no tool ${name}`)
    return [name, toTool(client, tool, choice)] as const
  })
  return Object.fromEntries(chosen)
}

async function listTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools({ cursor })
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tools
}

function toTool(client: Client, { name, title, description, inputSchema }: Tool, choice: Choice): DefinedTool {
  const check = checker.getValidator<Input>(inputSchema)
  const { timeout_seconds = 30 } = choice
  return defineTool<Input>({
    ...{ title: title ?? name, ...choice, description: description ?? name },
    input: {
      json_schema: inputSchema,
      validate: (input) => {
        const { valid, data, errorMessage } = check(input)
        return valid ? { value: data } : { issues: errorMessage }
      },
    },
    async run(input, { call_id, signal }) {
      const params = { name, arguments: input, _meta: { call_id } }
      const result = await client.callTool(params, CallToolResultSchema, { signal, timeout: timeout_seconds * 1000 })
      const { content, structuredContent, isError } = CallToolResultSchema.parse(result)
      if (isError) throw new ToolFailure(textOf(content))
      return toolResult({ output: structuredContent ?? textOf(content), parts: content.flatMap(toParts) })
    },
  })
}

function textOf(content: ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n')
}

/** Links are sources of the answer; what else a server sends is not shown. */
function toParts(block: ContentBlock): ToolPart[] {
  if (block.type !== 'resource_link' || !/^https?:/.test(block.uri)) return []
  return [{ source: { url: block.uri, title: block.title ?? block.name } }]
}
