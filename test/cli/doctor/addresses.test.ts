import { describe, expect, it } from 'vitest'
import { checkAddresses } from '../../../cli/doctor/addresses.ts'
import { parseConfig } from '../../../lib/index.ts'
import { wrong } from '../run-checks.ts'

describe('the doctor judges the URLs of a configuration', () => {
  const public_url = 'https://chat.example.org'
  const server = { public_url, trusted_proxies: ['127.0.0.1'] }
  const secure = { secure: true }
  const github = { client_id: 'id', client_secret: 'secret' }
  it.each<[string, object, string[]]>([
    ['nothing set', {}, []],
    ['behind a proxy', { server, security: { cookie: secure } }, []],
    ['no proxy is trusted', { server: { public_url }, security: { cookie: secure } }, ['trusted_proxies.missing']],
    ['no address for others', { server: { host: '0.0.0.0' } }, ['public_url.missing']],
    [
      'secure cookies over http',
      { server: { public_url: 'http://chat.example.org' }, security: { cookie: secure } },
      ['cookie.secure_over_http'],
    ],
    ['the domain above', { server, security: { cookie: { ...secure, domain: '.example.org' } } }, []],
    ['another domain', { server, security: { cookie: { ...secure, domain: 'ample.org' } } }, ['cookie.other_domain']],
    [
      'a page of the same site and one of another',
      {
        server: { ...server, cors: { allowed_origins: ['https://app.example.org', 'https://example.net'] } },
        security: { cookie: secure },
      },
      ['cors.other_site'],
    ],
    [
      'a page of another site that gets cookies',
      {
        server: { ...server, cors: { allowed_origins: ['https://example.net'] } },
        security: { cookie: { ...secure, same_site: 'none' } },
      },
      [],
    ],
    ['a provider', { server, security: { cookie: secure }, oauth: { github } }, []],
    [
      'a provider that sends people elsewhere',
      {
        server,
        security: { cookie: secure },
        oauth: { github: { ...github, redirect_uri: 'http://localhost:8080/api/oauth/github/callback' } },
      },
      ['oauth.other_redirect'],
    ],
    [
      'a provider and strict cookies',
      { server, security: { cookie: { ...secure, same_site: 'strict' } }, oauth: { github } },
      ['cookie.strict_with_providers'],
    ],
  ])('%s', (_, config, codes) => {
    const findings = checkAddresses(parseConfig(config))
    expect(wrong(findings)).toEqual(codes)
    for (const each of findings) if (each.severity !== 'ok') expect(each.remedy?.length).toBeGreaterThan(10)
  })
})
