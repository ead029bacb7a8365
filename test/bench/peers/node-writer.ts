// The floor of an event stream on Node: every post is framed once and written to every reader, nothing is kept.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

const [conversation_id, root_id, author_user_id] = [randomUUID(), randomUUID(), randomUUID()]
const PLACE = { conversation_id, root_id, parent_id: root_id, author_user_id }
const readers = new Set<ServerResponse>()
let posts = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') follow(response)
  else post(request, response)
})

function follow(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(': connected\n\n')
  readers.add(response)
  response.on('close', () => readers.delete(response))
}

function post(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const event = Buffer.from(`id: ${++posts}\nevent: message.new\ndata: ${toMessage(Buffer.concat(chunks))}\n\n`)
    for (const reader of readers) reader.write(event)
    response.writeHead(204).end()
  })
}

/** A message as the service sends one: what is compared is how it is sent, not how much of it. */
function toMessage(body: Buffer): string {
  const { content } = JSON.parse(body.toString()) as { content: string }
  const created_at = new Date().toISOString()
  const message = {
    id: randomUUID(),
    ...PLACE,
    role: 'user',
    content,
    path: '101010',
    depth: 1,
    status: 'complete',
    created_at,
  }
  return JSON.stringify({ type: 'message.new', payload: { message } })
}

listen(server)
