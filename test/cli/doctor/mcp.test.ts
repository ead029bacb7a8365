import { expect, it, onTestFinished } from 'vitest'
import { checkMcp, checkMcpStream } from '../../../cli/doctor/mcp.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { freePort } from '../../support/free-port.ts'
import { startService } from '../../support/service.ts'
import { asItComes, startProxy } from '../run-checks.ts'

/** A service behind a proxy at this path of its address. */
async function startBehind(
  path: string,
  pass: Parameters<typeof startProxy>[1],
  change = (_: Record<string, unknown>) => {},
) {
  const port = await freePort()
  const public_url = `http://127.0.0.1:${port}${path}`
  const config = { features: { mcp: true }, server: { public_url }, mcp: { oauth: { enabled: true } } }
  const service = await startService('sqlite::memory:', { config })
  onTestFinished(() => service.close())
  await service.signIn('ada')
  const url = (await startProxy(service.base_url, pass, change, port)) + path
  return { service, url, config: parseConfig(config) }
}

const codes = (findings: { code: string }[]) => findings.map(({ code }) => code)

it('finds that clients learn how to get a token, at the root of the host, too', async () => {
  for (const path of ['', '/chat']) {
    const { config, url } = await startBehind(path, asItComes)
    expect(codes(await checkMcp(config, url))).toEqual(['mcp.metadata'])
  }
})

it('finds a host whose root has no documents, and a proxy that takes headers away', async () => {
  const { config, url } = await startBehind(
    '/chat',
    async (path, chunks, response) => {
      if (path.startsWith('/chat')) return asItComes(path, chunks, response)
      response.end('{}')
    },
    (headers) => delete headers['www-authenticate'],
  )
  const findings = await checkMcp(config, url)
  expect(codes(findings)).toEqual([
    'mcp.metadata_missing',
    'mcp.metadata_missing',
    'mcp.metadata_missing',
    'mcp.challenge',
  ])
  expect(findings[0]!.message).toContain('/.well-known/oauth-protected-resource/chat')
  const gone = await checkMcp(config, `http://127.0.0.1:${await freePort()}/chat`)
  expect(new Set(codes(gone))).toEqual(new Set(['mcp.metadata_missing', 'mcp.challenge']))
})

it('finds whether messages of streams arrive', async () => {
  const { service, url } = await startBehind('', asItComes)
  const probe = (await service.chat.ops.probe(OPERATOR))!
  expect(await checkMcpStream(service.chat, url, probe)).toMatchObject({ severity: 'ok', code: 'mcp.flows' })
  const refusing = await startProxy(service.base_url, async (_, __, response) => void response.destroy())
  expect((await checkMcpStream(service.chat, refusing, probe)).code).toBe('mcp.refused')
  const buffering = await startProxy(service.base_url, async (_, chunks, response) => {
    const whole: Buffer[] = []
    for await (const chunk of chunks) whole.push(chunk)
    response.end(Buffer.concat(whole))
  })
  expect((await checkMcpStream(service.chat, buffering, probe)).code).toBe('mcp.buffered')
  await probe.remove()
}, 30_000)

it('asks nothing where clients have keys', async () => {
  expect(await checkMcp(parseConfig({ features: { mcp: true } }), 'http://127.0.0.1:1')).toEqual([])
})
