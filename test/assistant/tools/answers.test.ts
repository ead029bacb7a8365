import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Assistant } from '../../../lib/index.ts'
import { startService, startThread } from '../../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'answers-'))
const schema_file = join(folder, 'refund.json')
writeFileSync(schema_file, '{"type":"object","required":["order"]}')
afterAll(() => rmSync(folder, { recursive: true }))

/** Calls the tool once, and ends. */
const caller: Assistant = async function* ({ so_far }) {
  if (so_far.length === 0) yield { tool_call: { name: 'refund', input: { order: 'A-1' } } }
  else yield 'Done.'
}

/** What an answer has of a call, to which the server of the tool responds so. */
async function callOf(respond: (response: ServerResponse) => void, tool: object = {}) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/refund`
  const refund = { url, description: 'Pays back', schema_file, ...tool }
  const config = { assistant: { tools: ['refund'] }, tools: { refund } }
  const service = await startService('sqlite::memory:', { config, ports: { assistant: caller } })
  onTestFinished(async () => {
    await service.close()
    server.close()
  })
  const { ada, conversation_id } = await startThread(service)
  const { message } = await ada.messages.postRoot(conversation_id, { content: 'Pay back.', role: 'assistant' })
  await service.idle()
  const { content, parts = [] } = await ada.messages.get(message.id)
  expect(content).toBe('Done.')
  return parts.find(({ type }) => type === 'tool')
}

it.each<[string, (response: ServerResponse) => void, object, object]>([
  ['an output', (response) => response.end('{"output":5}'), {}, { state: 'done', output: 5 }],
  [
    'a problem',
    (response) => response.writeHead(404).end('{"detail":"There is no order A-1."}'),
    {},
    { state: 'failed', error: { code: 'tool_error', message: 'There is no order A-1.' } },
  ],
  ['a failure', (response) => response.writeHead(500).end(), {}, { state: 'unknown', error: { code: 'timeout' } }],
  [
    'a failure, where it may be repeated',
    (response) => response.writeHead(500).end(),
    { idempotent: true },
    { state: 'failed', error: { code: 'timeout' } },
  ],
  ['nothing', () => {}, { timeout_seconds: 1 }, { state: 'unknown', error: { code: 'timeout' } }],
  [
    'too much for a row',
    (response) => response.end(`{"output":"${'x'.repeat(100_000)}"}`),
    {},
    { state: 'failed', error: { code: 'output_too_large' } },
  ],
  [
    'more than is read',
    (response) => response.end(`{"output":"${'x'.repeat(300_000)}"}`),
    {},
    { state: 'failed', error: { code: 'output_too_large' } },
  ],
])('an answer has the call of a tool over HTTP that returns %s', async (_, respond, tool, expected) => {
  expect(await callOf(respond, tool)).toMatchObject({ name: 'refund', input: { order: 'A-1' }, ...expected })
})
