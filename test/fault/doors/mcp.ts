import { setTimeout as sleep } from 'node:timers/promises'
import { callMcp, type McpOptions } from '../../support/mcp.ts'
import { type Caller, type Door, isLost, PAUSE_MS, type Reading, Refused, type Visit } from './door.ts'

/** How long a call waits for the end of an answer. */
const WAIT_S = 5

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { form: {} } }

/** MCP: the tools for answers, and tasks. */
export const mcp: Door = {
  name: 'mcp',
  ends: { complete: 'complete', cancelled: 'cancelled', failed: 'failed', interrupted: 'interrupted' },

  async ask(caller, { content, key }) {
    const { conversation_id } = caller
    const question = { conversation_id, content, idempotency_key: key, seconds: 0 }
    const { taskId } = await call(caller, 'tools/call', { name: 'ask_assistant', arguments: question })
    // It has ended already: the answer itself.
    return taskId ?? (await callTool(caller, 'ask_assistant', question)).message_id
  },

  read,

  async decide(caller, { message_id, call_id }, approve) {
    const inputResponses = { [call_id]: { action: 'accept', content: { approve } } }
    await call(caller, 'tasks/update', { taskId: message_id, inputResponses })
  },

  async stop(caller, message_id) {
    await callTool(caller, 'stop_answer', { message_id })
  },
}

interface Answer {
  message_id: string
  status: string
  content: string
}

/** Waits for the end again and again: the text only grows. */
async function read(visit: Visit): Promise<Reading> {
  const { asked, caller, fault, signal, onConnect } = visit
  let text = ''
  for (;;) {
    signal.throwIfAborted()
    try {
      const at = await caller()
      onConnect()
      const args = { message_id: asked.message_id, seconds: WAIT_S }
      const { content, status } = await callTool(at, 'get_answer', args, { signal })
      if (!content.startsWith(text)) fault(`read ${content}, and before ${text}`)
      text = content
      if (status !== 'streaming' && status !== 'waiting') return { text, end: status, frames: [] }
    } catch (error) {
      signal.throwIfAborted()
      if (!isLost(error)) throw error
    }
    await sleep(PAUSE_MS)
  }
}

async function callTool(caller: Caller, name: string, args: object, options: McpOptions = {}): Promise<Answer> {
  const { structuredContent, content } = await call(caller, 'tools/call', { name, arguments: args }, options)
  const { text } = content[0]
  if (!structuredContent) throw new Refused(JSON.parse(text).code, `${name} ${text}`)
  return structuredContent
}

/** @throws Refused for an error; TypeError without a response */
async function call(caller: Caller, method: string, params: Record<string, unknown>, options: McpOptions = {}) {
  const sent = { key: caller.key, capabilities: CAPABILITIES, ...options }
  const response = await callMcp(caller, method, params, sent)
  if (!response) throw new TypeError('The connection was lost', { cause: method })
  if (response.error) throw new Refused(response.error.code, `${method} ${response.error.message}`)
  return response.result
}
