import { describe, expect, it } from 'vitest'
import { listWarnings } from '../../../cli/config/warnings.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { isLoopback } from '../../../lib/core/addresses.ts'

describe('warnings', () => {
  it.each([
    [{}, []],
    [{ server: { host: '::1' } }, []],
    [{ server: { host: '0.0.0.0' } }, ['server.host']],
    [{ server: { host: '0.0.0.0' }, security: { cookie: { secure: true } } }, []],
    [{ server: { trusted_proxies: ['10.0.0.0/8', '::1'] } }, []],
    [{ server: { trusted_proxies: ['0.0.0.0/0'] } }, ['server.trusted_proxies']],
    [{ server: { trusted_proxies: ['::/0'] } }, ['server.trusted_proxies']],
    [{ security: { csrf: { enabled: false } } }, ['security.csrf.enabled']],
    [{ server: { public_url: 'http://chat.example.org' } }, ['server.public_url']],
    [{ server: { public_url: 'HTTP://10.0.0.1:8080' } }, ['server.public_url']],
    [{ server: { public_url: 'http://localhost:8080' } }, []],
    [{ server: { public_url: 'http://[::1]:8080' } }, []],
    [{ server: { public_url: 'http://chat.localhost' } }, []],
    [{ server: { public_url: 'https://chat.example.org' } }, ['security.cookie.secure']],
    [{ server: { public_url: 'https://chat.example.org' }, security: { cookie: { secure: true } } }, []],
    [{ server: { cors: { allowed_origins: ['https://a.example', 'http://localhost:3000', 'http://127.0.0.1'] } } }, []],
    [
      { server: { cors: { allowed_origins: ['http://a.example', 'https://a.example', 'http://b.example'] } } },
      ['server.cors.allowed_origins', 'server.cors.allowed_origins'],
    ],
    [{ security: { password: { bcrypt_cost: 9 } } }, ['security.password.bcrypt_cost']],
    [{ well_known: { entries: { 'security.txt': 'Contact: …' } } }, ['well_known.entries']],
    [{ features: { well_known: true }, well_known: { entries: { 'security.txt': 'Contact: …' } } }, []],
    [{ access: { keys: 'everyone' as const, post: 'everyone' as const } }, ['access.keys']],
    [
      { access: { roles: { guest: { create_conversations: true, upload: true, keys: false } } } },
      ['access.roles.guest.create_conversations'],
    ],
  ])('of %j are %j', (input, keys) => {
    expect(listWarnings(parseConfig(input)).map((warning) => warning.split(' ')[0])).toEqual(keys)
  })

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['127.example.org', false],
    ['::1', true],
    ['::', false],
    ['localhost', true],
    ['10.0.0.1', false],
  ])('know whether %s is loopback: %s', (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback)
  })
})
