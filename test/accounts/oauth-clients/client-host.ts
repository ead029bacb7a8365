import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createClientDocuments } from '../../../lib/accounts/oauth-clients/documents.ts'
import { createCertificate, openOutgoing } from '../../outgoing/outgoing.ts'
import { innerState } from '../../support/service.ts'

/** How a host responds at a path. */
type Respond = (response: ServerResponse, request: IncomingMessage) => void

/** A host on this machine, with a name and a certificate, that publishes documents of clients. */
export interface ClientHost {
  /** The origin of its URLs. */
  origin: string
  /** The paths that were requested, in this order. */
  requests: string[]
  /** What it has at its paths: JSON, or what responds. */
  at: Record<string, object | Respond>
  /** Calls of a service that takes this host for a public one. */
  outgoing: ReturnType<typeof openOutgoing>
}

/** Starts a host; `host` is its name. */
export async function startClientHost(host = 'app.test'): Promise<ClientHost> {
  const { key, cert } = createCertificate(host)
  const requests: string[] = []
  const at: ClientHost['at'] = {}
  const server = createServer({ key, cert }, (request, response) => {
    requests.push(request.url!)
    const content = at[request.url!]
    if (typeof content === 'function') return content(response, request)
    response.writeHead(content ? 200 : 404, { 'content-type': 'application/json' })
    response.end(content && JSON.stringify(content))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const outgoing = openOutgoing(
    { allow_http: false, allowed_ports: [port] },
    { authorities: cert, resolve: async () => ['127.0.0.1'] },
  )
  return { origin: `https://${host}:${port}`, requests, at, outgoing }
}

/** A document of a client at a URL. */
export function documentOf(client_id: string, more: object = {}) {
  return {
    client_id,
    client_name: 'Claude',
    redirect_uris: ['https://app.test/callback', 'http://localhost/callback'],
    token_endpoint_auth_method: 'none',
    ...more,
  }
}

/** Makes a service read what this host publishes. */
export function letRead(chat: object, { outgoing }: Pick<ClientHost, 'outgoing'>): void {
  const { accounts, log } = innerState(chat)
  Object.assign(accounts, { clientDocuments: createClientDocuments({ outgoing, log }) })
}
