import { lookup } from 'node:dns/promises'
import type { RequestListener, Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { listen as listhen } from 'listhen'
import { applyLimits, type ServerLimits } from './limits.ts'

/** A server that takes requests. */
export interface Listening {
  server: Server
  /** Where it really listens. */
  port: number
  /** For a browser on the same machine. */
  url: string
}

/**
 * Listens on exactly this host and port; port 0 picks one.
 *
 * @param limits other ones than usual
 * @throws Error that says why the address cannot be had
 */
export async function listen(
  handler: RequestListener,
  asked: { host: string; port: number },
  limits: Partial<ServerLimits> = {},
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
  applyLimits(server, limits)
  return { server, port: real.port, url: `http://${urlHost(asked.host)}:${real.port}` }
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
