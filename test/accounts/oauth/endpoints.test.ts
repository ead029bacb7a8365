import { expect, it } from 'vitest'
import { assertEndpoints } from '../../../lib/accounts/oauth/endpoints.ts'

const judge = (issuer: string, endpoints: Record<string, string>, hosts?: string[]) =>
  assertEndpoints(new URL(issuer), { issuer, ...endpoints }, hosts)

it.each([
  ['https://idp.example', 'https://idp.example/token'],
  ['https://idp.example/realms/staff', 'https://idp.example:8443/token'],
  ['https://idp.example', 'https://tokens.idp.example/token'],
  ['https://accounts.google.com', 'https://oauth2.googleapis.com/token'],
  ['https://10.1.2.3', 'https://10.1.2.3/token'],
  ['http://127.0.0.1:4000', 'http://localhost:4001/token'],
])('sends the client secret of %s to %s', (issuer, token_endpoint) => {
  judge(issuer, { token_endpoint })
})

it.each([
  ['https://idp.example', 'https://evil.example/token'],
  ['https://idp.example', 'https://evilidp.example/token'],
  ['https://idp.example', 'https://idp.example.evil/token'],
  ['https://a.pages.example', 'https://b.pages.example/token'],
  ['https://accounts.google.com.evil.example', 'https://oauth2.googleapis.com/token'],
  ['http://127.0.0.1:4000', 'https://idp.example/token'],
])('sends the client secret of %s not to %s, unless that is configured', (issuer, token_endpoint) => {
  expect(() => judge(issuer, { token_endpoint })).toThrow('token_hosts')
  judge(issuer, { token_endpoint }, [new URL(token_endpoint).hostname])
})

it.each([
  'http://localhost:8080/x',
  'http://a.localhost/x',
  'http://127.1:5432/x',
  'http://0x7f000001/x',
  'http://0.0.0.0/x',
  'http://[::1]/x',
  'http://[::ffff:127.0.0.1]/x',
  'https://10.0.0.1/x',
  'https://172.31.255.255/x',
  'https://192.168.1.1/x',
  'https://100.64.0.1/x',
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00::1]/x',
  'https://[fe80::1]/x',
  'https://[::ffff:10.0.0.1]/x',
])('has an issuer on the network name no %s', (address) => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    expect(() => judge('https://idp.example', { [name]: address }, [new URL(address).hostname])).toThrow(name)
})

it('refuses the addresses of this machine for an issuer in the same network', () => {
  expect(() => judge('https://10.1.2.3', { jwks_uri: 'http://127.0.0.1/jwks' })).toThrow('jwks_uri')
  judge('https://10.1.2.3', { jwks_uri: 'https://10.1.2.4/jwks' })
})
