import { lookup } from 'node:dns/promises'
import type { RequestListener, Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { listen as listhen } from 'listhen'

/** A server that takes requests. */
export interface Listening {
  server: Server
  /** Where it really listens. */
  port: number
  /** For a browser on the same machine. */
  url: string
}

/**
 * What Node allows any client is more than one needs: a minute to send headers keeps sockets taken for nothing.
 * The size of headers is not among these, since it is fixed when a server is made: Node's 16 KiB.
 */
const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  // Who takes nothing of its answer for so long is gone, or means no good.
  timeout: 120_000,
  maxHeadersCount: 100,
  maxRequestsPerSocket: 1_000,
  connectionsCheckingInterval: 1_000,
}

/**
 * Listens on exactly this host and port; port 0 picks one.
 *
 * @param limits other ones than usual, in milliseconds
 * @throws Error that says why the address cannot be had
 */
export async function listen(
  handler: RequestListener,
  asked: { host: string; port: number },
  limits: Partial<typeof SERVER_LIMITS> = {},
): Promise<Listening> {
  // Resolved here, because listhen replaces a name that it does not like with localhost.
  const { address } = await lookup(asked.host).catch((cause) => {
    throw new Error(`Cannot listen on ${asked.host}: no such host`, { cause })
  })
  const listener = await listhen(handler, {
    hostname: address,
    // The range holds no port: listhen's own has 3000, which it would take for one that is taken.
    port: { port: asked.port, random: asked.port === 0, alternativePortRange: [1, 0], verbose: false },
    // In production it takes 3000 for port 0.
    isProd: false,
    public: address === '0.0.0.0' || address === '::',
    showURL: false,
    autoClose: false,
  }).catch(async (cause) => {
    throw new Error(`Cannot listen on ${asked.host}:${asked.port}: ${await whyNot(address, asked.port)}`, { cause })
  })

  const real = listener.address
  if (real.address !== address || (asked.port !== 0 && real.port !== asked.port)) {
    await listener.close()
    throw new Error(`Cannot listen on ${asked.host}:${asked.port}: ${await whyNot(address, asked.port)}`)
  }
  const server = listener.server as Server
  applyLimits(server, { ...SERVER_LIMITS, ...limits })
  return { server, port: real.port, url: `http://${urlHost(asked.host)}:${real.port}` }
}

/** Sets the limits of a server that listens already. */
export function applyLimits(server: Server, limits: Partial<typeof SERVER_LIMITS> = SERVER_LIMITS): void {
  Object.assign(server, limits)
  // The timer that enforces them was armed with the interval of before, 30 seconds; this is what arms it.
  server.emit('listening')
}

/** listhen says only that it found no port; the operating system knows why. */
async function whyNot(host: string, port: number): Promise<string> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => probe.once('error', reject).listen({ host, port }, resolve))
    return port === (probe.address() as AddressInfo).port ? 'browsers refuse this port' : 'no port is free'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return 'the port is taken'
    if (code === 'EACCES') return 'this user may not use the port'
    return code === 'EADDRNOTAVAIL' ? 'no network interface has this address' : `the system refuses it (${code})`
  } finally {
    probe.close()
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
