import type { SecureContextOptions } from 'node:tls'
import { publicUrlOf } from '../config/base-path.ts'
import { derived } from '../config/live.ts'
import type { Config } from '../config/parse.ts'
import { monotonicMicros } from '../core/time.ts'
import { VERSION } from '../core/version.ts'
import type { Route } from './connecting.ts'
import { createConnections } from './connections.ts'
import { type Answered, type Exchange, exchange, type Progress } from './exchange.ts'
import { OutgoingFailure, toFailure } from './failure.ts'
import { askSystem, createResolve, type Resolve } from './names.ts'
import { createJudge, fixedAddressesOf, type Target, toTarget } from './targets.ts'

/** How many addresses of a name are tried. */
const MAX_ADDRESSES = 4

/** How long one address may take to connect while there is another. */
const CONNECT_TIMEOUT_MS = 3_000

/** Headers that are of the connection, or made here. */
const OWN_HEADERS = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
]

/** One call. */
export interface OutgoingCall {
  /** @default 'GET' */
  method?: string
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>
  body?: string
  /** How long all of it may take, the name and the body included. */
  timeout_ms: number
  /**
   * How much of the body is read. Without it the call ends with the head of the answer: of the body 4 KiB are read and
   * forgotten.
   */
  max_body?: number
  /** The statuses that are no failure. @default 2xx */
  accepts?: (status: number) => boolean
  /** Whether the port may be any, where a document names it and no user. */
  any_port?: boolean
}

/** The answer to a call. */
export interface OutgoingAnswer extends Answered {
  /** How long it took, in milliseconds. */
  ms: number
}

/** Calls to addresses that users, or documents from outside, name: never to this machine or its network. */
export interface Outgoing {
  /** Whether a URL may be called, as far as it can be seen without its name being resolved. */
  isCallable(address: string): boolean
  /** Whether the name or address of a configured host leads to one that would be refused. */
  isInternal(host: string): Promise<boolean>
  /**
   * Calls a URL. No redirect is followed, and nothing is decompressed. A kept connection that ends before a byte of the answer
   * is replaced, so that the request may arrive twice.
   *
   * @throws OutgoingFailure
   */
  call(address: string, call: OutgoingCall): Promise<OutgoingAnswer>
  /** Breaks off all calls. */
  close(): void
}

/** What tests replace. */
export interface OutgoingDeps {
  config: Config
  resolve?: Resolve
  authorities?: SecureContextOptions['ca']
}

/** Creates what calls such addresses, by the configuration in effect. */
export function createOutgoing({ config, resolve = createResolve(), authorities }: OutgoingDeps): Outgoing {
  const connections = createConnections(authorities)
  const running = new Set<AbortController>()
  let isClosed = false
  const settings = derived(
    () => config.outgoing,
    (outgoing) => ({ ...outgoing, judge: createJudge(outgoing.allowed_networks) }),
  )

  function targetOf(address: string, { any_port = false }: Pick<OutgoingCall, 'any_port'> = {}): Target | undefined {
    const { allow_http, allowed_ports, judge } = settings()
    return toTarget(address, {
      allow_http,
      ports: any_port ? undefined : allowed_ports,
      judge,
      own_url: publicUrlOf(config),
    })
  }

  /** The routes to a target by addresses that passed; first those with a connection that waits. */
  async function routesOf({ host, port, is_secure }: Target): Promise<Route[]> {
    const addresses = fixedAddressesOf(host) ?? (await resolve(host))
    const { judge, proxy } = settings()
    const routes = [...new Set(addresses.filter(judge))].map((address) => ({ address, port, host, is_secure, proxy }))
    if (routes.length === 0) throw new OutgoingFailure('address_forbidden')
    const [kept, others] = [true, false].map((kept) => routes.filter((route) => connections.hasIdle(route) === kept))
    return [...kept!, ...others!].slice(0, MAX_ADDRESSES)
  }

  async function send(target: Target, call: Omit<Exchange, 'path' | 'connect_ms'>): Promise<Answered> {
    const routes = await untilAborted(routesOf(target), call.signal)
    for (const [n, route] of routes.entries()) {
      const progress: Progress = { is_sent: false }
      const isLast = n === routes.length - 1
      const connect_ms = isLast ? undefined : CONNECT_TIMEOUT_MS
      try {
        return await exchange(connections, route, { ...call, path: target.path, connect_ms, progress })
      } catch (error) {
        if (isLast || progress.is_sent || call.signal.aborted) throw error
      }
    }
    throw new OutgoingFailure('connect')
  }

  return {
    isCallable: (address) => targetOf(address) !== undefined,

    async isInternal(host) {
      const bare = host.replace(/^\[|\]$|\.$/g, '')
      const addresses = fixedAddressesOf(bare) ?? (await askSystem(bare).catch(() => []))
      return addresses.some((address) => !settings().judge(address))
    },

    async call(address, options) {
      const { method = 'GET', headers = {}, body, timeout_ms, max_body, accepts = isSuccess } = options
      const target = targetOf(address, options)
      if (!target) throw new OutgoingFailure('address_forbidden')
      if (isClosed) throw new OutgoingFailure('connect')
      const begun = monotonicMicros()
      const controller = new AbortController()
      running.add(controller)
      const timer = setTimeout(() => controller.abort(), timeout_ms)
      const rests: Promise<void>[] = []
      try {
        const { signal } = controller
        const onRest = (reading: Promise<void>) => void rests.push(reading)
        const sent = { method, headers: headersOf(target, headers, body), body, accepts, max_body, signal, onRest }
        const answer = await send(target, sent)
        return { ...answer, ms: Math.round((monotonicMicros() - begun) / 1000) }
      } finally {
        // What is read of the rest keeps no process running.
        timer.unref()
        void Promise.all(rests).finally(() => {
          clearTimeout(timer)
          running.delete(controller)
        })
      }
    },

    close() {
      isClosed = true
      for (const controller of running) controller.abort()
      connections.close()
    },
  }
}

const isSuccess = (status: number) => status < 300

function headersOf({ authority }: Target, given: Readonly<Record<string, string>>, body: string | undefined) {
  const others = Object.entries(given).filter(([name]) => !OWN_HEADERS.includes(name.toLowerCase()))
  return {
    'user-agent': `chat-server/${VERSION}`,
    ...Object.fromEntries(others),
    host: authority,
    'accept-encoding': 'identity',
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }
}

/** Waits for names, whose questions have a time limit of their own. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new OutgoingFailure('timeout')))
    work.then(resolve, (error) => reject(toFailure('dns', error)))
  })
}
