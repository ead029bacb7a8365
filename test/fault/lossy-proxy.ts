import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a proxy does to a call. */
type Harm = 'lost' | 'unanswered' | 'repeated' | 'delayed'

/** A proxy between two programs that loses calls, loses answers, repeats calls and delays them. */
export interface LossyProxy {
  port: number
  base_url: string
  /** How many calls each has happened to. */
  harmed: Record<Harm, number>
  close(): Promise<void>
}

/** The longest delay, in milliseconds. */
const MAX_DELAY = 100

const HARMS: Harm[] = ['lost', 'unanswered', 'repeated', 'delayed']

/**
 * Starts a proxy in front of a port of this machine. While nothing listens there, it answers with 502.
 *
 * @param share of the calls that are harmed; a call with a `webhook-id` only once, so that a webhook is not delayed for hours
 */
export async function startLossyProxy(target: () => number, share: number, random: () => number): Promise<LossyProxy> {
  const harmed: Record<Harm, number> = { lost: 0, unanswered: 0, repeated: 0, delayed: 0 }
  const spared = new Set<string>()

  function choose({ headers }: IncomingMessage): Harm | undefined {
    if (random() >= share) return
    const id = headers['webhook-id'] as string | undefined
    if (id !== undefined && spared.has(id)) return
    if (id !== undefined) spared.add(id)
    const harm = HARMS[Math.floor(random() * HARMS.length)]!
    harmed[harm]++
    return harm
  }

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const harm = choose(incoming)
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (harm === 'lost') return void response.destroy()
    if (harm === 'delayed') await sleep(random() * MAX_DELAY)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const ask = () => forward(target(), incoming, body, gone.signal)
    if (harm === 'repeated') await ask()
    const answer = await ask()
    if (harm === 'unanswered') return void response.destroy()
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => {
      if (response.headersSent || response.destroyed) response.destroy()
      else response.writeHead(502).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    base_url: `http://127.0.0.1:${port}`,
    harmed,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface ForwardedAnswer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** @throws an error of the connection, also of one that ends in the middle of an answer */
async function forward(
  port: number,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Promise<ForwardedAnswer> {
  const outgoing: ClientRequest = request({ host: '127.0.0.1', port, method, path: url, headers, signal, agent: false })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  // The length is that of the whole body.
  const { 'transfer-encoding': _, ...rest } = answer.headers
  return { status: answer.statusCode!, headers: rest, body: Buffer.concat(chunks) }
}
