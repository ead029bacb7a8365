import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { OutgoingFailure } from '../../lib/outgoing/failure.ts'
import { createResolve } from '../../lib/outgoing/names.ts'
import { createOutgoing, type OutgoingDeps } from '../../lib/outgoing/outgoing.ts'
import { type Answers, startDnsServer } from '../support/dns-server.ts'

/** Far above what a call to this machine takes, and below what a person waits for. */
export const LONG_MS = 10_000

/** Takes connections and counts them, until the end of the test. */
export async function startReceiver(
  onConnection: (socket: Socket, n: number) => void,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<{ port: number; server: Server; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onConnection(socket, sockets.push(socket))
  }).listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, server, sockets }
}

/** The text of each request of a connection, head and body. */
export function onRequests(socket: Socket, answer: (request: string, n: number) => void): void {
  let received = ''
  let count = 0
  socket.on('data', (data) => {
    received += data.toString('latin1')
    for (;;) {
      const [head = '', rest] = received.split(/\r\n\r\n(.*)/s)
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (rest === undefined || rest.length < length) return
      received = rest.slice(length)
      answer(`${head}\r\n\r\n${rest.slice(0, length)}`, ++count)
    }
  })
}

/** What calls, with the receivers of this machine opened unless the test says otherwise. */
export function openOutgoing(
  outgoing: ConfigInput['outgoing'] & object,
  { public_url, ...deps }: Partial<OutgoingDeps> & { public_url?: string } = {},
) {
  const config = parseConfig({
    ...(public_url && { server: { public_url } }),
    outgoing: { allow_http: true, allowed_networks: ['127.0.0.0/8'], ...outgoing },
  })
  const calls = createOutgoing({ config, ...deps })
  onTestFinished(() => calls.close())
  return calls
}

/** Names as a DNS server of the test's own answers them. */
export async function openNames(answers: Answers) {
  const dns = await startDnsServer(answers)
  onTestFinished(() => dns.close())
  return { resolve: createResolve({ servers: [dns.address] }), questions: dns.questions }
}

/** Why a call fails, or the status of its answer. */
export async function outcomeOf(call: Promise<{ status: number }>): Promise<string | number> {
  try {
    return (await call).status
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    return error.reason
  }
}

/** Whether certificates can be made here. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** A certificate for a name, which is its own authority. */
export function createCertificate(name: string): { key: Buffer; cert: Buffer } {
  const cwd = mkdtempSync(join(tmpdir(), 'chat-outgoing-'))
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  spawnSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', 'key.pem', '-out', 'cert.pem'], { cwd })
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => readFileSync(join(cwd, file)))
  rmSync(cwd, { recursive: true })
  return { key: key!, cert: cert! }
}
