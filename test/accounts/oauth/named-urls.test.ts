import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../../lib/accounts/oauth/client.ts'
import { oauthProviders } from '../../../lib/config/oauth.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { OutgoingFailure } from '../../../lib/outgoing/failure.ts'
import type { Outgoing } from '../../../lib/outgoing/outgoing.ts'

/** An issuer whose document names endpoints, and what is called of both. */
async function openIssuer({ is_internal, token_url }: { is_internal: boolean; token_url?: string }) {
  const requests: string[] = []
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    const names = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
    response.writeHead(url === '/token' ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(url === '/token' ? { error: 'invalid_grant' } : { issuer, ...names }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const calls: string[] = []
  const outgoing: Outgoing = {
    isCallable: () => true,
    isInternal: async () => is_internal,
    async call(url) {
      calls.push(url)
      throw new OutgoingFailure('address_forbidden')
    },
    close() {},
  }
  const reasons: unknown[] = []
  const warn = (_message: string, fields?: object) => void reasons.push((fields as { reason?: unknown }).reason)
  const config = parseConfig({
    server: { public_url: 'https://chat.example.org' },
    oauth: { own: { client_id: 'chat', client_secret: 'secret', issuer, ...(token_url && { token_url }) } },
  })
  const log = { debug() {}, info() {}, error() {}, warn }
  const client = createClient(oauthProviders(config)[0]!, { log, now: () => 0, outgoing })
  const failure = await client.identify({ code: 'code', iss: issuer }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'oauth_provider_error' })
  return { issuer, requests, calls, reasons }
}

it('calls what the document of a public issuer names through the guard only', async () => {
  const { issuer, requests, calls, reasons } = await openIssuer({ is_internal: false })
  expect(requests).toEqual(['/.well-known/openid-configuration'])
  expect(calls).toEqual([`${issuer}/token`])
  expect(reasons).toEqual(['a URL of its discovery leads to this machine or its network'])
})

it('calls what the document of an issuer in the own network names as it is', async () => {
  const { requests, calls, reasons } = await openIssuer({ is_internal: true })
  expect(requests).toEqual(['/.well-known/openid-configuration', '/token'])
  expect(calls).toEqual([])
  expect(reasons).toEqual(['it answered with status 400, invalid_grant'])
})

it('calls a configured endpoint as it is, whatever the issuer', async () => {
  const { calls, reasons } = await openIssuer({ is_internal: false, token_url: 'http://127.0.0.1:2/token' })
  expect(calls).toEqual([])
  expect(reasons).toEqual(['ECONNREFUSED'])
})
