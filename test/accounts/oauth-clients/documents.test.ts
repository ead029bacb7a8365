import type { ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { createClientDocuments } from '../../../lib/accounts/oauth-clients/documents.ts'
import { HOUR, MINUTE } from '../../../lib/core/units.ts'
import { hasOpenssl, openOutgoing } from '../../outgoing/outgoing.ts'
import { documentOf, startClientHost } from './client-host.ts'

/** A host, and what reads its documents; `infos` has what was logged. */
async function setUp() {
  const host = await startClientHost()
  const infos: unknown[] = []
  const log = { debug() {}, warn() {}, error() {}, info: (_: string, fields?: object) => void infos.push(fields) }
  const documents = createClientDocuments({ outgoing: host.outgoing, log })
  const id = `${host.origin}/client.json`
  host.at['/client.json'] = documentOf(id)
  return { host, documents, id, log, infos }
}

describe.runIf(hasOpenssl)('a document of a client (openssl)', () => {
  it('is read, with how long it is used', async () => {
    const { host, documents, id } = await setUp()
    expect(await documents.fetch(id)).toMatchObject({ client: { client_id: id, name: 'Claude' }, age: 5 * MINUTE })
    host.at['/client.json'] = (response, { headers }) => {
      response.setHeader('cache-control', 'public, max-age=7200')
      response.end(JSON.stringify(documentOf(id, { client_name: headers.accept })))
    }
    expect(await documents.fetch(id)).toMatchObject({ client: { name: 'application/json' }, age: 2 * HOUR })
  })

  it('is read once at a time', async () => {
    const { host, documents, id } = await setUp()
    const all = await Promise.all(Array.from({ length: 20 }, () => documents.fetch(id)))
    expect([host.requests.length, new Set(all).size]).toEqual([1, 1])
    await documents.fetch(id)
    expect(host.requests).toHaveLength(2)
  })

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['a redirect', (r) => r.writeHead(302, { location: 'http://127.0.0.1/' }).end(), /status 302/],
    ['no document', (r) => r.writeHead(404).end(), /status 404/],
    ['an empty answer', (r) => r.writeHead(204).end(), /status 204/],
    ['more than 16 KiB', (r) => r.end(`{"a":"${'a'.repeat(16 * 1024)}"}`), /larger than 16 KiB/],
    ['HTML', (r) => r.end('<html>'), /no JSON/],
    ['no UTF-8', (r) => r.end(Buffer.from([0x22, 0xff, 0x22])), /no JSON/],
    ['a connection that breaks off', (r) => r.socket!.destroy(), /cannot be reached \(connect\)/],
    ['the document of another client', (r) => r.end(JSON.stringify(documentOf('https://app.test/a'))), /client_id/],
  ])('is refused for %s, whose content is in no reason', async (_title, respond, problem) => {
    const { host, documents, id } = await setUp()
    host.at['/client.json'] = respond
    expect(await documents.fetch(id)).toMatchObject({ problem: expect.stringMatching(problem) })
    expect(host.requests).toEqual(['/client.json'])
  })

  it.each([
    [404, false],
    [410, false],
    [301, false],
    [429, true],
    [500, true],
    [503, true],
  ])('is gone with the status %i, or only its host fails: %s', async (status, is_passing) => {
    const { host, documents, id } = await setUp()
    host.at['/client.json'] = (response) => response.writeHead(status).end()
    expect(await documents.fetch(id)).toMatchObject({ is_passing })
  })

  it('is refused for a host that does not answer within five seconds', { timeout: 20_000 }, async () => {
    const { host, documents, id } = await setUp()
    host.at['/client.json'] = () => {}
    expect(await documents.fetch(id)).toEqual({
      problem: expect.stringMatching(/longer than 5 seconds/),
      is_passing: true,
    })
  })

  it('is not asked for at an address inside, nor at what is no URL of a document', async () => {
    const { host, id, log } = await setUp()
    const port = Number(new URL(id).port)
    const guarded = openOutgoing(
      { allow_http: false, allowed_networks: [], allowed_ports: [port] },
      { resolve: async () => ['127.0.0.1'] },
    )
    const documents = createClientDocuments({ outgoing: guarded, log })
    expect(await documents.fetch(id)).toEqual({
      problem: 'its address is none that this service calls',
      is_passing: false,
    })
    expect(await documents.fetch(`${id}?a=b`)).toEqual({ problem: 'its address is not one of a metadata document' })
    expect(host.requests).toEqual([])
  })

  describe('with keys at a URL', () => {
    /** A document whose keys are at a URL. */
    async function withKeys(jwks_uri = '/jwks.json') {
      const { host, ...rest } = await setUp()
      const signed = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: new URL(jwks_uri, host.origin).href }
      host.at['/client.json'] = documentOf(rest.id, signed)
      const { publicKey } = await generateKeyPair('ES256')
      host.at['/jwks.json'] = { keys: [await exportJWK(publicKey)] }
      return { host, ...rest, jwks_uri: signed.jwks_uri }
    }

    it('is read with them, which are kept', async () => {
      const { host, documents, id, jwks_uri } = await withKeys()
      expect(await documents.fetch(id)).toMatchObject({ client: { jwks_uri } })
      expect(await documents.keysAt(jwks_uri).load()).toBe(true)
      expect(host.requests).toEqual(['/client.json', '/jwks.json'])
    })

    it.each<[string, (response: ServerResponse) => void]>([
      ['a redirect', (r) => r.writeHead(302, { location: 'http://127.0.0.1/' }).end()],
      ['more than 16 KiB', (r) => r.end(`{"keys":[],"a":"${'a'.repeat(16 * 1024)}"}`)],
      ['no keys', (r) => r.end('{}')],
    ])('is refused for %s at that URL', async (_title, respond) => {
      const { host, documents, id, infos } = await withKeys()
      host.at['/jwks.json'] = respond
      expect(await documents.fetch(id)).toEqual({
        problem: 'the keys at its jwks_uri cannot be read',
        is_passing: true,
      })
      expect(infos).toEqual([{ url: host.origin, reason: expect.any(String) }])
    })

    it('is refused for keys at an address inside, which is not called', async () => {
      const { host, documents, id } = await withKeys('https://10.0.0.1/jwks.json')
      expect(await documents.fetch(id)).toEqual({
        problem: 'the keys at its jwks_uri cannot be read',
        is_passing: true,
      })
      expect(host.requests).toEqual(['/client.json'])
    })

    it('keeps the keys of 100 clients', async () => {
      const { host, documents, jwks_uri } = await withKeys()
      expect(await documents.keysAt(jwks_uri).load()).toBe(true)
      for (let n = 0; n < 99; n++) documents.keysAt(`${host.origin}/${n}`)
      expect(await documents.keysAt(jwks_uri).load()).toBe(true)
      expect(host.requests).toEqual(['/jwks.json'])
      for (let n = 0; n < 100; n++) documents.keysAt(`${host.origin}/${n}`)
      expect(await documents.keysAt(jwks_uri).load()).toBe(true)
      expect(host.requests).toEqual(['/jwks.json', '/jwks.json'])
    })
  })
})
