// A model server that streams a token every 10 ms to every client until it disconnects.
import { createServer, type ServerResponse } from 'node:http'
import { marker } from '../load/marker.ts'
import { listen } from './listen.ts'

const TOKEN_MS = 10

const server = createServer((request, response) => {
  request.resume().on('end', () => stream(response))
})

/** Says numbered tokens. What a late timer owes goes out with the next one: the rate is that of the clock. */
function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const started = performance.now()
  let said = 0
  const timer = setInterval(() => {
    const due = Math.floor((performance.now() - started) / TOKEN_MS)
    while (said < due) response.write(token(said++))
  }, TOKEN_MS)
  response.once('close', () => clearInterval(timer))
}

function token(number: number): string {
  const choice = { index: 0, delta: { content: marker(number) }, finish_reason: null }
  return `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [choice] })}\n\n`
}

listen(server)
