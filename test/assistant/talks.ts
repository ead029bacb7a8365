import { inspect } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Log } from '../../lib/index.ts'
import { type Behaviour, startModelServer } from '../support/model-server.ts'
import { PASSWORD, startService, startThread } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

/** The secrets of requests to the model server, which no other output may contain. */
export const KEY = 'sk-opensesame'
export const TENANT = 'tenant-swordfish'

/** Long enough for any answer of a test except endless ones. */
export const ANSWER_BYTES = 1_000

/**
 * A conversation on a new service whose answers come from a model server with these behaviours, one after another;
 * Grace follows it. Everything ends with the test.
 */
export async function startTalk(url: string, ...behaviours: Behaviour[]) {
  const model = await startModelServer(...behaviours)
  const lines: string[] = []
  const config = { assistant: assistantAt(model.url) }
  const service = await startService(url, { config, ports: { log: writeTo(lines) } })
  onTestFinished(() => service.close())
  const { ada, grace, conversation_id } = await startThread(service)
  const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
  const stream = await openStream(service.base_url, conversation_id, { cookie })
  onTestFinished(() => stream.close())
  await stream.until('stream.ready')

  const ask = () => ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
  const read = (message_id: string) => grace.messages.get(message_id)
  /** Asks, and waits for the end. */
  async function talk() {
    const { message_id } = await ask()
    const events = await stream.until('message.done')
    const chunks = await grace.answers.listChunks(message_id)
    return { events, message: await read(message_id), produced: chunks.map(({ content }) => content).join('') }
  }
  return { model, service, ada, stream, lines, ask, read, talk }
}

function assistantAt(base_url: string) {
  return {
    provider: 'openai',
    base_url,
    model: 'tiny',
    api_key: KEY,
    headers: [`X-Tenant: ${TENANT}`],
    system_prompt: 'Be brief.',
    context: 'path',
    names: 'never',
    answer_bytes: ANSWER_BYTES,
    drain_seconds: 0,
  }
}

function writeTo(lines: string[]): Log {
  const note = (message: string, fields?: object) => void lines.push(inspect([message, fields], { depth: 9 }))
  return { debug: note, info: note, warn: note, error: note }
}
