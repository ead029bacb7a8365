import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Listener } from 'listhen'
import { type Address, type Listen, listen } from '../../lib/http/node/listen.ts'
import { UsageError } from '../args/command.ts'

/** A server that can print a QR code of its address. */
export interface QrListener {
  listen: Listen
  /** Prints the addresses for other machines, the first of them as a QR code. */
  show(public_url: string | undefined): Promise<void>
}

/**
 * Listens with listhen, which knows the addresses of this machine and draws QR codes.
 *
 * @throws Error when listhen, an optional package, is not installed
 */
export async function createQrListener(): Promise<QrListener> {
  const { listen: listhen } = await import('listhen').catch((cause) => {
    throw new Error('--qr needs a package that is not installed: npm install listhen', { cause })
  })
  let listener: Listener | undefined
  return {
    async listen(handler, asked) {
      if (!('host' in asked)) throw new UsageError('--qr needs a port, not a socket')
      const { address, port } = await findFree(handler, asked)
      listener = await listhen(handler, {
        hostname: address,
        // If this port is in use, listhen otherwise takes another one, such as 3000. The range is empty.
        port: { port, random: false, alternativePortRange: [1, 0], verbose: false },
        // In production it takes 3000 for any port.
        isProd: false,
        public: address === '0.0.0.0' || address === '::',
        showURL: false,
        // It would end the process on a signal, before the requests in progress have ended.
        autoClose: false,
      })
      if (listener.address.port !== port) {
        await listener.close()
        throw new Error(`Cannot listen on ${asked.host}:${port}: the port is taken`)
      }
      return listener.server as Server
    },
    async show(publicURL) {
      await listener?.showURL({ qr: true, ...(publicURL && { publicURL }) })
    },
  }
}

/** Listens once and stops: Node reports why an address is not available, while listhen silently takes another one. */
async function findFree(handler: RequestListener, asked: Address): Promise<AddressInfo> {
  const server = await listen(handler, asked)
  const address = server.address() as AddressInfo
  await once(server.close(), 'close')
  return address
}
