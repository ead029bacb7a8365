import { describe, expect, it } from 'vitest'
import {
  ageOf,
  cleanName,
  hostOf,
  isDocumentUrl,
  isLoopbackRedirect,
  isRedirectOf,
  isRedirectUri,
  type OAuthClient,
  readDocument,
} from '../../../lib/accounts/oauth-clients/rules.ts'
import { DAY, HOUR, MINUTE } from '../../../lib/core/units.ts'

const URL_OF_APP = 'https://app.example.org/oauth/client.json'

describe('the URL of a metadata document', () => {
  it.each([
    URL_OF_APP,
    'https://app.example.org:8443/client',
    'https://xn--bcher-kva.example/a/',
    'https://app.example.org/a%20b',
  ])('%s', (id) => expect(isDocumentUrl(id)).toBe(true))

  it.each([
    ['another protocol', 'http://app.example.org/client'],
    ['no path', 'https://app.example.org'],
    ['an empty path', 'https://app.example.org/'],
    ['a query', `${URL_OF_APP}?a=b`],
    ['an empty query', `${URL_OF_APP}?`],
    ['a fragment', `${URL_OF_APP}#a`],
    ['an empty fragment', `${URL_OF_APP}#`],
    ['a user', 'https://me@app.example.org/client'],
    ['an empty user', 'https://@app.example.org/client'],
    ['a dot segment', 'https://app.example.org/a/../client'],
    ['a dot segment of one dot', 'https://app.example.org/./client'],
    ['an escaped dot segment', 'https://app.example.org/a/%2e%2E/client'],
    ['capitals in its host', 'https://App.example.org/client'],
    ['the usual port', 'https://app.example.org:443/client'],
    ['letters beyond ASCII', 'https://bücher.example/client'],
    ['a backslash', 'https://app.example.org\\client'],
    ['a space', 'https://app.example.org/a b'],
    ['a line break', 'https://app.example.org/a\nb'],
    ['more than 512 characters', `https://app.example.org/${'a'.repeat(500)}`],
    ['no URL', 'claude'],
  ])('has not %s', (_title, id) => expect(isDocumentUrl(id)).toBe(false))
})

describe('a redirect', () => {
  const CLIENT = {
    redirect_uris: [
      'https://app.example.org/callback?a=b',
      'http://127.0.0.1/callback',
      'http://localhost:33418',
      'http://[::1]:1/x?y',
    ],
  }

  it.each([
    'https://app.example.org/callback?a=b',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1:65535/callback',
    'http://localhost',
    'http://localhost:4000',
    'http://[::1]:4000/x?y',
  ])('of the client: %s', (uri) => expect(isRedirectOf(CLIENT, uri)).toBe(true))

  it.each([
    'https://app.example.org/callback',
    'https://app.example.org:444/callback?a=b',
    'https://app.example.org/callback?a=b&c=d',
    'https://APP.example.org/callback?a=b',
    'https://app.example.org.evil.example/callback?a=b',
    'http://app.example.org/callback?a=b',
    'http://127.0.0.1/callback/',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:/callback',
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.2/callback',
    'http://localhost/callback',
    'http://localhost:4000/',
    'http://localhost.evil.example',
    'https://127.0.0.1/callback',
    '',
  ])('of another: %s', (uri) => expect(isRedirectOf(CLIENT, uri)).toBe(false))

  it.each([
    'cursor://anysphere.cursor/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://app.example.org/callback',
    'https://app.example.org/callback#a',
    'https://me@app.example.org/callback',
    'https://app.example.org\\@evil.example/',
    'https://app.example.org/\r\nset-cookie:a=b',
    'https://app.example.org/"><script>',
    'https://',
    'https://*/cb',
    'https://a;sandbox/cb',
    "https://a'unsafe-inline'/cb",
    'https://a,b/cb',
    'https://a:b/cb',
    `https://app.example.org/${'a'.repeat(2048)}`,
  ])('that no client may have: %s', (uri) => {
    expect(isRedirectUri(uri)).toBe(false)
    expect(isRedirectOf({ redirect_uris: [uri] }, uri)).toBe(false)
  })

  it('leads to this machine, or to a host', () => {
    expect(isLoopbackRedirect('http://[::1]:1/x')).toBe(true)
    expect(isLoopbackRedirect('https://localhost/')).toBe(false)
  })

  it('is the host of a client, unless its document has one', () => {
    expect(hostOf({}, 'https://evil.example:8443/cb')).toBe('evil.example:8443')
    expect(hostOf({}, 'http://127.0.0.1:33418/cb')).toBe('127.0.0.1')
    expect(hostOf({ host: 'app.example.org' }, 'http://127.0.0.1:33418/cb')).toBe('app.example.org')
  })
})

describe('a metadata document', () => {
  const DOCUMENT = {
    client_id: URL_OF_APP,
    client_name: 'Claude',
    redirect_uris: ['https://app.example.org/callback', 'cursor://callback', 'http://localhost/callback'],
    token_endpoint_auth_method: 'none',
    logo_uri: 'https://app.example.org/logo.png',
  }

  it('names the client, its redirects that are allowed, and its methods', () => {
    expect(readDocument(URL_OF_APP, DOCUMENT)).toEqual({
      client: {
        client_id: URL_OF_APP,
        name: 'Claude',
        host: 'app.example.org',
        redirect_uris: ['https://app.example.org/callback', 'http://localhost/callback'],
        auth_methods: ['none'],
      },
    })
  })

  const JWKS_URI = 'https://app.example.org/jwks.json'
  it.each([
    ['none', { token_endpoint_auth_method: 'none', jwks_uri: JWKS_URI }, { auth_methods: ['none'] }],
    [
      'the key at a URL, by the field of one method',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: JWKS_URI },
      { auth_methods: ['private_key_jwt'], jwks_uri: JWKS_URI },
    ],
    [
      'the key at a URL, by the field of several methods',
      {
        token_endpoint_auth_method: undefined,
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt', 'none'],
        jwks_uri: JWKS_URI,
      },
      { auth_methods: ['none', 'private_key_jwt'], jwks_uri: JWKS_URI },
    ],
    [
      'no key at a URL without encryption',
      {
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        jwks_uri: 'http://app.example.org/jwks',
      },
      { auth_methods: ['none'] },
    ],
  ])('allows the methods of both fields: %s', (_title, more, expected) => {
    const read = readDocument(URL_OF_APP, { ...DOCUMENT, ...more })
    const { auth_methods, jwks_uri } = (read as { client: OAuthClient }).client
    expect({ auth_methods, ...(jwks_uri && { jwks_uri }) }).toEqual(expected)
  })

  it.each<[string, unknown]>([
    ['no object', 'text'],
    ['an array', [DOCUMENT]],
    ['no client_id', { ...DOCUMENT, client_id: undefined }],
    ['the client_id of another', { ...DOCUMENT, client_id: 'https://app.example.org/other' }],
    ['the client_id in another spelling', { ...DOCUMENT, client_id: 'https://APP.example.org/oauth/client.json' }],
    ['no redirects', { ...DOCUMENT, redirect_uris: [] }],
    ['redirects of other types', { ...DOCUMENT, redirect_uris: [1] }],
    ['more redirects than any client', { ...DOCUMENT, redirect_uris: Array(51).fill('https://app.example.org/') }],
    ['no redirect that is allowed', { ...DOCUMENT, redirect_uris: ['cursor://callback'] }],
    ['no method', { ...DOCUMENT, token_endpoint_auth_method: undefined }],
    ['a method with a secret', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_post' }],
    ['a signature without keys', { ...DOCUMENT, token_endpoint_auth_method: 'private_key_jwt' }],
    ['a name of another type', { ...DOCUMENT, client_name: {} }],
    ['a name beyond all bounds', { ...DOCUMENT, client_name: 'a'.repeat(3000) }],
  ])('is refused with %s', (_title, content) => {
    expect(readDocument(URL_OF_APP, content)).toEqual({ problem: expect.any(String) })
  })

  it.each([
    ['its host, without a name', undefined, 'app.example.org'],
    ['its host, for one that shows nothing', '\u200b\u202e \n', 'app.example.org'],
    ['one line', 'Cla\u202eude\n\t of the\u2066 company\u200b', 'Claude of the company'],
    ['a part of a long one, without half a character', `${'a'.repeat(99)}😀`, 'a'.repeat(99)],
  ])('has a name that people can read: %s', (_title, client_name, name) => {
    expect(readDocument(URL_OF_APP, { ...DOCUMENT, client_name })).toMatchObject({ client: { name } })
    expect(cleanName(client_name) || 'app.example.org').toBe(name)
  })
})

it.each([
  [undefined, 5 * MINUTE],
  ['public', 5 * MINUTE],
  ['max-age=1', 5 * MINUTE],
  ['max-age=7200', 2 * HOUR],
  ['public, Max-Age="7200", immutable', 2 * HOUR],
  ['max-age=99999999', DAY],
  ['max-age=-7200', 5 * MINUTE],
  ['max-age=7200, no-cache', 5 * MINUTE],
  ['no-store, max-age=7200', 5 * MINUTE],
])('a document with Cache-Control %s is used for %i µs', (header, age) => expect(ageOf(header)).toBe(age))
