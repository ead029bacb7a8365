import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { checkTools } from '../../../cli/doctor/tools.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { freePort } from '../../support/free-port.ts'
import { folder } from '../process.ts'

const called: string[] = []

async function startTools(): Promise<string> {
  const server = createServer(({ method, url, headers }, response) => {
    called.push(`${method} ${url} ${headers.authorization}`)
    response.writeHead(Number(url!.slice(1)), { location: '/200' }).end('x'.repeat(10_000))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('finds whether the addresses of tools respond, without running one', async () => {
  const url = await startTools()
  const schema_file = `${folder({ 'order.json': '{"type":"object"}' })}/order.json`
  const headers = ['Authorization: Bearer canary']
  const toolAt = (address: string) => ({ url: address, description: 'x', schema_file, headers })
  const config = parseConfig({
    tools: {
      well: toolAt(`${url}/204`),
      refusing: toolAt(`${url}/405`),
      moved: toolAt(`${url}/302`),
      simple: toolAt(`${url}/501`),
      failing: toolAt(`${url}/502`),
      gone: toolAt(`http://127.0.0.1:${await freePort()}/`),
    },
  })
  const findings = await checkTools(config)
  expect(findings.map(({ code, message }) => `${code} ${/tool (\w+)/.exec(message)?.[1]}`)).toEqual([
    'tools.reachable well',
    'tools.reachable refusing',
    'tools.reachable moved',
    'tools.reachable simple',
    'tools.failing failing',
    'tools.unreachable gone',
  ])
  expect(findings.at(-1)!.message).toMatch(/: the connection was refused\.$/)
  expect(called.sort()).toEqual([204, 302, 405, 501, 502].map((status) => `OPTIONS /${status} Bearer canary`))
  expect(JSON.stringify(findings)).not.toContain('canary')
})

it('finds schemas that cannot be read, and names of no tool', async () => {
  const broken = `${folder({ 'order.json': '{"type":"text"}' })}/order.json`
  const url = await startTools()
  const tools = { refund: { url: `${url}/200`, description: 'x', schema_file: broken } }
  const findings = await checkTools(parseConfig({ tools }))
  expect(findings.map(({ code }) => code)).toEqual(['tools.invalid', 'tools.reachable'])
  expect(findings[0]!.message).toMatch(/^tools.refund.schema_file: .*order.json is no JSON Schema: type must be one of/)
  expect(await checkTools(parseConfig({ assistant: { tools: ['refund'] } }))).toMatchObject([
    { code: 'tools.invalid', message: 'assistant.tools: must have names of tools: there are no tools.' },
  ])
  expect(await checkTools(parseConfig())).toEqual([])
})
