// The floor of an event stream on Node: every post is framed once and written to every reader, nothing is kept.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

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
    const event = Buffer.from(`id: ${++posts}\nevent: message\ndata: ${Buffer.concat(chunks)}\n\n`)
    for (const reader of readers) reader.write(event)
    response.writeHead(204).end()
  })
}

listen(server)
