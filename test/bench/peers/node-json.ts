// The floor of HTTP with JSON on Node: no session, no route table, no storage.
import { createServer, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

const ME = {
  user: { id: '019c0000-0000-7000-8000-000000000001', email: 'ada@example.org', username: 'ada', roles: ['admin'] },
  session: {
    id: '019c0000-0000-7000-8000-000000000002',
    issued_at: '2026-01-01T00:00:00.000000Z',
    expires_at: '2026-01-02T00:00:00.000000Z',
    absolute_expires_at: '2026-01-31T00:00:00.000000Z',
  },
}

let posts = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') return answer(response, 200, ME)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { content } = JSON.parse(Buffer.concat(chunks).toString()) as { content: string }
    answer(response, 201, { id: ++posts, content })
  })
})

function answer(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

listen(server)
