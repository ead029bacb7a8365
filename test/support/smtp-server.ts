import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/** A mail as a server received it. */
export interface ReceivedMail {
  to: string[]
  raw: string
  /** Of the header `Message-ID`. */
  message_id: string
  /** Whether it came encrypted. */
  encrypted: boolean
  user: string | undefined
}

/** How the server behaves from now on; a test may change it at any time. */
export interface Behaviour {
  /** The answers to the next recipients, such as 450 or 550; then 250. */
  codes: number[]
  /** Receives this many mails completely and closes the connection without an answer. */
  dies: number
  /** Answers nothing at all. */
  hangs: boolean
}

/** A real mail server on this machine, with STARTTLS. With a password it requires AUTH. */
export async function startSmtp(options: { user?: string; password?: string; starttls?: boolean } = {}) {
  const mails: ReceivedMail[] = []
  const behaviour: Behaviour = { codes: [], dies: 0, hangs: false }
  let connections = 0
  const { user, password, starttls = true } = options
  const refusal = (code: number, message: string) => Object.assign(new Error(message), { responseCode: code })
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    authOptional: password === undefined,
    disabledCommands: [...(password === undefined ? ['AUTH'] : []), ...(starttls ? [] : ['STARTTLS'])],
    onConnect(_session, done) {
      connections++
      if (!behaviour.hangs) done()
    },
    onAuth(auth, _session, done) {
      if (auth.username === user && auth.password === password) done(null, { user: auth.username! })
      else done(refusal(535, 'Authentication failed'))
    },
    onRcptTo(_address, _session, done) {
      const code = behaviour.codes.shift() ?? 250
      done(code === 250 ? null : refusal(code, 'Not this recipient'))
    },
    async onData(stream, session, done) {
      const raw = await text(stream)
      mails.push({
        to: session.envelope.rcptTo.map(({ address }) => address),
        raw,
        message_id: /^Message-ID: (.*)$/im.exec(raw)![1]!.trim(),
        encrypted: session.secure === true,
        user: session.user as string | undefined,
      })
      if (behaviour.dies-- > 0) for (const each of server.connections) each.close()
      else done()
    },
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const credentials = password === undefined ? '' : `${user}:${encodeURIComponent(password)}@`
  return {
    url: `smtp://${credentials}127.0.0.1:${port}`,
    port,
    mails,
    behaviour,
    connections: () => connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
