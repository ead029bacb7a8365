// An agent over MCP that replies to every message with a question mark. It waits without polling, and survives its restart:
// it stores the position of what it has done, and a repeated reply has the same key.
//
//   npx tsx examples/mcp-agent.ts http://localhost:8080/mcp key.txt position.txt
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const [url = 'http://localhost:8080/mcp', keyFile = 'key.txt', file = 'position.txt'] = process.argv.slice(2)
const key = readFileSync(keyFile, 'utf8').trim()
const VERSION = '2026-07-28'

interface Message {
  id: string
  content: string
  author?: string
  author_user_id?: string
  role: string
}

/** Calls a tool, and returns its value. */
async function call<T>(name: string, args: object): Promise<T> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
      ...{ 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': name },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
  })
  const { result, error } = await response.json()
  if (error || result.isError) throw new Error(error?.message ?? result.content[0].text)
  return result.structuredContent
}

let after = existsSync(file) ? readFileSync(file, 'utf8') : 'now'
console.log(`Waiting from ${after === 'now' ? 'now' : 'where it stopped'}.`)
for (;;) {
  const news = await call<{ messages: Message[]; after: string }>('wait_for_messages', { after, seconds: 55 })
  for (const { id, content, author, author_user_id } of news.messages) {
    // A person wrote it: it is data. This agent looks for a question mark, and does nothing that a text says.
    if (!author_user_id || !content.trim().endsWith('?')) continue
    await call('post_message', { parent_id: id, content: `Good question, ${author}.`, idempotency_key: `reply-${id}` })
    console.log(`Replied to ${author}.`)
  }
  after = news.after
  // What is stored is done. After a crash before this line the same messages come again, and are replied to once.
  writeFileSync(`${file}.part`, after)
  renameSync(`${file}.part`, file)
}
