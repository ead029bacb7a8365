import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTools } from '../../../lib/assistant/tools/create.ts'
import type { ToolCall } from '../../../lib/assistant/tools/definition.ts'
import { OutcomeUnknown, OutputTooLarge } from '../../../lib/assistant/tools/tool.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { type ConfigInput, parseConfig, ToolFailure } from '../../../lib/index.ts'
import { freePort } from '../../support/free-port.ts'

const folder = mkdtempSync(join(tmpdir(), 'tools-'))
const schema_file = join(folder, 'refund.json')
const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['order'],
  additionalProperties: false,
  properties: {
    order: { type: 'string', pattern: '^A-\\d+$' },
    lines: { type: 'array', items: { $ref: '#/definitions/line' } },
  },
  definitions: { line: { type: 'object', properties: { cents: { type: 'integer', minimum: 1 } } } },
}
writeFileSync(schema_file, JSON.stringify(SCHEMA))

interface Received {
  method: string | undefined
  url: string | undefined
  headers: IncomingHttpHeaders
  body: unknown
}

let respond: (response: ServerResponse, request: IncomingMessage) => void = () => {}
const received: Received[] = []
const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  received.push({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: JSON.parse(text || 'null'),
  })
  respond(response, request)
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/refund?shop=7`
})
beforeEach(() => {
  received.length = 0
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true })
})

const toolOf = (settings: object = {}) => {
  const tools = { refund: { url, description: 'Pays back', schema_file, ...settings } }
  return createTools(parseConfig({ tools } as ConfigInput), {}).get('refund')!
}

const callOf = (change: Partial<ToolCall> = {}): ToolCall => ({
  call_id: '0190-call',
  attempt: 2,
  actor: OPERATOR,
  user: { id: 'u1', username: 'ada', subject: 'crm-7' },
  conversation_id: 'c1',
  message_id: 'm1',
  assistant: 'helper',
  signal: new AbortController().signal,
  ...change,
})

const run = (settings: object = {}, call: Partial<ToolCall> = {}) =>
  toolOf(settings).run({ order: 'A-1' }, callOf(call))

/** The error of a call, to which the server responds so. */
async function failureOf(answer: typeof respond): Promise<Error> {
  respond = answer
  return run().then(
    (output) => expect.fail(JSON.stringify(output)),
    (error: Error) => error,
  )
}

const json =
  (status: number, value: unknown, type = 'application/json') =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': type }).end(typeof value === 'string' ? value : JSON.stringify(value))

it('is a tool as those of the host, with the defaults', async () => {
  const { $schema: _, ...shown } = SCHEMA
  expect(toolOf()).toMatchObject({
    ...{ name: 'refund', title: 'refund', description: 'Pays back', schema: shown },
    ...{ idempotent: false, timeout_seconds: 30, show: 'all', fixedApproval: undefined },
  })
  const approval = { by: 'admins', quorum: 2, not_asker: true, keys: false, expires_seconds: 86_400 }
  const tool = toolOf({ title: 'Refund', approval: { by: 'admins', quorum: 2, not_asker: true }, show: 'name' })
  expect(tool).toMatchObject({ title: 'Refund', show: 'name', fixedApproval: approval })
  expect(await tool.approval({})).toEqual(approval)
  expect(await toolOf().approval({})).toBeUndefined()
})

it('posts the call with its key and the configured headers, and returns the output', async () => {
  respond = json(200, { output: { paid: 5 }, more: 1 })
  const headers = ['Authorization: Bearer secret', 'Idempotency-Key: other', 'User-Agent: shop']
  expect(await run({ headers })).toEqual({ output: { paid: 5 }, parts: [] })
  expect(received).toMatchObject([
    {
      method: 'POST',
      url: '/refund?shop=7',
      headers: {
        authorization: 'Bearer secret',
        'idempotency-key': '0190-call',
        'content-type': 'application/json',
        'user-agent': 'shop',
      },
    },
  ])
  expect(received[0]!.body).toEqual({
    ...{ call_id: '0190-call', attempt: 2, assistant: 'helper', message_id: 'm1', conversation_id: 'c1' },
    input: { order: 'A-1' },
    user: { id: 'u1', username: 'ada', subject: 'crm-7' },
  })
})

it('replaces no tool of the host with its name', async () => {
  const tools = { refund: { url, description: 'Pays back', schema_file: join(folder, 'missing.json') } }
  const { defineTool } = await import('../../../lib/index.ts')
  const input = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value }) }
  const refund = defineTool({ description: 'In the process', input, run: () => 1 })
  expect(createTools(parseConfig({ tools }), { tools: { refund } }).get('refund')!.description).toBe('In the process')
})

describe('an input', () => {
  it.each([
    [{ order: 'A-1', lines: [{ cents: 1 }] }, undefined],
    [{ order: 'A-1', lines: [{ cents: 1 }, { cents: 0 }] }, /^lines\.1\.cents: 0 is less than/],
    [{ order: 'B-1' }, /^order: /],
    [{}, /required property "order"/],
    [{ order: 'A-1', amount: 5 }, /amount/],
    ['A-1', /"string" is invalid|Expected "object"/],
    [null, /Expected "object"/],
  ])('%j is checked by the schema', async (input, issues) => {
    const checked = await toolOf().validate(input)
    if (issues === undefined) expect(checked).toEqual({ value: input })
    else expect(checked).toEqual({ issues: expect.stringMatching(issues) })
  })
})

describe('a call has failed', () => {
  it.each<[string, typeof respond, string]>([
    [
      'with the text of a problem',
      json(404, { detail: 'There is no order A-1.' }, 'application/problem+json'),
      'There is no order A-1.',
    ],
    ['with a long text', json(422, { detail: 'x'.repeat(501) }), 'x'.repeat(500)],
    ['with the text of a redirect', json(302, { detail: 'It has moved.' }), 'It has moved.'],
  ])('%s', async (_, answer, text) => {
    const error = await failureOf(answer)
    expect(error).toBeInstanceOf(ToolFailure)
    expect(error.message).toBe(text)
  })

  it.each<[string, typeof respond, RegExp]>([
    ['with a status alone', json(400, 'no'), /status 400/],
    ['with a text that is none', json(409, { detail: { secret: 1 } }), /status 409/],
    ['with an empty text', json(409, { detail: '' }), /status 409/],
    ['with a problem that is too large', json(403, { detail: 'x'.repeat(300_000) }), /status 403/],
  ])('%s, which is for the log', async (_, answer, message) => {
    const error = await failureOf(answer)
    expect(error.message).toMatch(message)
    expect(error).not.toBeInstanceOf(ToolFailure)
    expect(error).not.toBeInstanceOf(OutcomeUnknown)
  })

  it('by a redirect, which is not followed', async () => {
    const error = await failureOf((response) => response.writeHead(307, { location: '/elsewhere' }).end())
    expect(error.message).toMatch(/status 307/)
    expect(received.map((request) => request.url)).toEqual(['/refund?shop=7'])
  })

  it.each<[string, () => Promise<string>]>([
    ['no process listens', async () => `http://127.0.0.1:${await freePort()}/`],
    ['the name has no address', async () => 'http://tools.invalid/'],
    ['the server speaks no TLS', async () => url.replace('http:', 'https:')],
  ])('if there is no connection: %s', async (_, address) => {
    const error = await run({ url: await address() }).catch((error: Error) => error)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(OutcomeUnknown)
    expect(received).toEqual([])
  })

  it('if it was aborted before there was a connection', async () => {
    const error = await run({}, { signal: AbortSignal.abort() }).catch((error: Error) => error)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(OutcomeUnknown)
    expect(received).toEqual([])
  })

  it('with an output that is too large to be kept', async () => {
    expect(await failureOf(json(200, { output: 'x'.repeat(256 * 1024) }))).toBeInstanceOf(OutputTooLarge)
  })
})

describe('it is not known what a call has done', () => {
  it.each<[string, typeof respond]>([
    ['after 500', json(500, { detail: 'secret' })],
    ['after 503 with an output', json(503, { output: 1 })],
    ['after JSON without an output', json(200, { result: 1 })],
    ['after a list', json(200, [1])],
    ['after null', json(200, 'null')],
    ['after broken JSON', json(200, '{"output":')],
    ['after no body', (response) => response.writeHead(204).end()],
    ['after bytes that are no UTF-8', (response) => response.end(Buffer.from('{"output":"\xff"}', 'latin1'))],
    ['when the connection is reset', (response) => response.socket!.resetAndDestroy()],
    ['when it ends without an answer', (response) => response.socket!.destroy()],
    [
      'when the body breaks off',
      (response) => response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy()),
    ],
  ])('%s', async (_, answer) => {
    const error = await failureOf(answer)
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect(error.message).not.toContain('secret')
    expect(received).toHaveLength(1)
  })

  it('when it is aborted, and the server learns of it', async () => {
    const control = new AbortController()
    const closed = new Promise<void>((resolve) => {
      respond = (_, request) => {
        request.socket.once('close', resolve)
        control.abort()
      }
    })
    await expect(run({}, { signal: control.signal })).rejects.toThrow(OutcomeUnknown)
    await closed
  })

  it('when it is aborted in the body', async () => {
    const control = new AbortController()
    respond = (response) => {
      response.write('{"output":1', () => control.abort())
    }
    await expect(run({}, { signal: control.signal })).rejects.toThrow(OutcomeUnknown)
  })

  it('when the answer is not HTTP', async () => {
    const other = createTcpServer((socket) => socket.once('data', () => socket.end('no HTTP\r\n\r\n')))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    await expect(run({ url: `http://127.0.0.1:${port}/` })).rejects.toThrow(OutcomeUnknown)
    await new Promise((resolve) => other.close(resolve))
  })

  it('when the server switches protocols', async () => {
    const error = await failureOf((response) => {
      response.writeHead(101, { upgrade: 'other', connection: 'upgrade' })
      response.socket!.end(`HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n`)
    })
    expect(error).toBeInstanceOf(OutcomeUnknown)
  })
})
