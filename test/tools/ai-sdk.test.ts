import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AnswerPiece } from '../../lib/assistant/provider.ts'
import { uiTransport } from '../../lib/client/ai/index.ts'
import { createChatClient } from '../../lib/client/index.ts'
import { defineTool } from '../../lib/index.ts'
import { createPuppet } from '../support/assistant.ts'
import { type ServiceOptions, startService, startThread, type TestService } from '../support/service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A message as the packages have it. */
interface UiMessage {
  id: string
  role: string
  parts: { type: string; text?: string; state?: string; approval?: { id: string }; data?: unknown }[]
  metadata?: { variant_of?: string; status?: string }
}

/** What of `ai` is used here: its own types differ between the versions. */
interface Chat {
  messages: UiMessage[]
  status: string
  error: Error | undefined
  sendMessage(message: { text: string; messageId?: string }): Promise<void>
  regenerate(options?: { messageId?: string }): Promise<void>
  resumeStream(): Promise<void>
  addToolApprovalResponse(response: { id: string; approved: boolean }): Promise<void>
}

interface Package {
  AbstractChat: new (options: object) => Chat
  DefaultChatTransport: new (
    options: object,
  ) => { reconnectToStream(options: { chatId: string }): Promise<ReadableStream | null> }
  lastAssistantMessageIsCompleteWithApprovalResponses?: object
}

/** The state of a chat outside of a page. */
function createState(messages: UiMessage[]) {
  return {
    messages: [...messages],
    status: 'ready',
    error: undefined,
    pushMessage(message: UiMessage) {
      this.messages = [...this.messages, message]
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1)
    },
    replaceMessage(index: number, message: UiMessage) {
      this.messages = this.messages.map((each, n) => (n === index ? structuredClone(message) : each))
    },
    snapshot: structuredClone,
  }
}

const NODE = Number(process.versions.node.split('.')[0])

const call = (name: string): AnswerPiece => ({ tool_call: { name, input: {} } })
const ANY = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value: value as object }) }

describe.each([5, 6, 7])('version %i of the AI SDK', (version) => {
  const hasApprovals = version > 5
  let sdk: Package
  let service: TestService
  let puppet: ReturnType<typeof createPuppet>
  let world: Awaited<ReturnType<typeof startThread>>
  let key: string

  beforeEach(async ({ skip }) => {
    if (version === 7 && NODE < 22) skip('Version 7 needs Node 22')
    sdk = (await import(`ai${version}`)) as Package
  })
  afterEach(() => service?.close())

  async function start(options: ServiceOptions = {}) {
    puppet = createPuppet()
    const { assistant, ...config } = { assistant: {}, ...options.config }
    service = await startService('sqlite::memory:', {
      config: { ...config, assistant: { drain_seconds: 0, ...assistant } },
      ports: { assistant: puppet.assistant, ...options.ports },
    })
    world = await startThread(service)
    const created = await world.ada.keys.create({ name: 'a page' })
    key = created.key
  }

  function transport() {
    const headers = { authorization: `Bearer ${key}`, ...(version === 5 && { 'x-ui-version': '5' }) }
    return new sdk.DefaultChatTransport({ api: `${service.base_url}/api/ui/chat`, headers })
  }

  function open(id: string, messages: UiMessage[] = [], by: object = transport()): Chat {
    const state = createState(messages)
    const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithApprovalResponses
    return new sdk.AbstractChat({
      id,
      transport: by,
      state,
      ...(sendAutomaticallyWhen && { sendAutomaticallyWhen }),
    })
  }

  async function load(id: string): Promise<{ messages: UiMessage[]; activeStreamId?: string }> {
    const response = await fetch(`${service.base_url}/api/ui/chat/${id}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return response.json()
  }

  const textOf = ({ parts }: UiMessage) => parts.flatMap(({ type, text }) => (type === 'text' ? text : [])).join('')
  const texts = (messages: UiMessage[]) => messages.map((message) => [message.role, textOf(message)])

  /** Asks, and has the whole answer. */
  async function send(chat: Chat, text: string, answer: string, act = () => chat.sendMessage({ text })) {
    const sent = act()
    const asked = await puppet.asked()
    asked.say(answer)
    asked.end()
    await sent
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
  }

  it('sends and streams', async () => {
    await start()
    const chat = open('trip')
    const sent = chat.sendMessage({ text: 'Why?' })
    const answer = await puppet.asked()
    answer.say(
      { reasoning: 'Hm.' },
      'The ',
      { source: { url: 'https://example.org/', title: 'It' } },
      { data: { name: 'chart', data: 1 } },
      'sky.',
    )
    answer.end()
    await sent
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    expect(texts(chat.messages)).toEqual([
      ['user', 'Why?'],
      ['assistant', 'The sky.'],
    ])
    expect(chat.messages[1]!.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'text',
      'source-url',
      'data-chart',
      'text',
    ])
    expect(chat.messages[1]!.metadata?.status).toBe('complete')
    await send(chat, 'And?', 'The sea.')
    const { messages } = await load('trip')
    expect(texts(messages)).toEqual(texts(chat.messages))
    expect(messages.at(-1)!.id).toBe(chat.messages.at(-1)!.id)
  })

  it('resumes a running answer, for a second reader, too', async () => {
    await start()
    expect(await transport().reconnectToStream({ chatId: 'trip' })).toBeNull()
    const first = open('trip')
    const sent = first.sendMessage({ text: 'Why?' })
    const answer = await puppet.asked()
    answer.say('The ')
    await vi.waitUntil(() => first.messages.length === 2 && textOf(first.messages[1]!) === 'The ', { timeout: 30_000 })
    const loaded = await load('trip')
    expect(texts(loaded.messages)).toEqual([['user', 'Why?']])
    const second = open('trip', loaded.messages)
    const resumed = second.resumeStream()
    await vi.waitUntil(() => second.messages.length === 2 && textOf(second.messages[1]!) === 'The ', {
      timeout: 30_000,
    })
    answer.say('sky.')
    answer.end()
    await Promise.all([sent, resumed])
    for (const { messages, status } of [first, second]) {
      expect(status).toBe('ready')
      expect(messages.map(textOf)).toEqual(['Why?', 'The sky.'])
    }
    expect(second.messages[1]!.id).toBe(loaded.activeStreamId)
  })

  it('stops, and keeps the text', async () => {
    await start()
    const chat = open('trip')
    const sent = chat.sendMessage({ text: 'Why?' })
    const answer = await puppet.asked()
    answer.say('The ')
    await vi.waitUntil(() => chat.messages.length === 2 && textOf(chat.messages[1]!) === 'The ', { timeout: 30_000 })
    const stopped = await fetch(`${service.base_url}/api/ui/chat/trip/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(stopped.status).toBe(202)
    await sent
    expect([chat.status, textOf(chat.messages[1]!)]).toEqual(['ready', 'The '])
  })

  it('regenerates and edits: the messages of before stay as variants', async () => {
    await start()
    const chat = open('trip')
    await send(chat, 'One?', 'First.')
    await send(chat, 'Two?', 'Second.')
    const second = chat.messages.at(-1)!
    await send(chat, '', 'Second again.', () => chat.regenerate())
    expect(texts(chat.messages).slice(2)).toEqual([
      ['user', 'Two?'],
      ['assistant', 'Second again.'],
    ])
    expect(chat.messages.at(-1)!.metadata?.variant_of).toBe(second.id)
    const other = open('trip', (await load('trip')).messages)
    const { id: messageId } = other.messages.at(-2)!
    await send(other, '', 'Third.', () => other.sendMessage({ text: 'Three?', messageId }))
    expect(texts((await load('trip')).messages).slice(2)).toEqual([
      ['user', 'Three?'],
      ['assistant', 'Third.'],
    ])
    // The first question, too: the chat goes on with the new one.
    const whole = open('trip', (await load('trip')).messages)
    const first = whole.messages[0]!.id
    await send(whole, '', 'Anew.', () => whole.sendMessage({ text: 'Zero?', messageId: first }))
    expect(texts((await load('trip')).messages)).toEqual([
      ['user', 'Zero?'],
      ['assistant', 'Anew.'],
    ])
  })

  it('has the status error when an answer fails, and when the server stops', async () => {
    await start()
    const chat = open('trip')
    const failing = chat.sendMessage({ text: 'Why?' })
    ;(await puppet.asked()).fail(new Error('broken'))
    await failing
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toMatch(/assistant|answer/i)

    const other = open('other')
    const sent = other.sendMessage({ text: 'Why?' })
    ;(await puppet.asked()).say('The ')
    await vi.waitUntil(() => other.messages.length === 2 && textOf(other.messages[1]!) === 'The ', { timeout: 30_000 })
    service.chat.drain()
    await sent
    expect(other.status).toBe('error')
  })

  const tool = (name: string) =>
    defineTool({
      description: name,
      input: ANY,
      run: async () => `${name} done`,
      approval: { by: 'asker', keys: true },
    })

  const startAsking = () =>
    start({
      config: { assistant: { tools: ['refund', 'pay'] } },
      ports: {
        tools: { refund: tool('refund'), pay: tool('pay') },
        assistant: async function* ({ step }) {
          if (step === 1) yield* ['Let me.', call('refund'), call('pay')]
          else yield 'Done.'
        },
      },
    })

  it.runIf(hasApprovals)('approves one call and denies another, and goes on in the same message', async () => {
    await startAsking()
    const chat = open('trip')
    await chat.sendMessage({ text: 'Why?' })
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    const asked = chat.messages[1]!.parts.filter(({ state }) => state === 'approval-requested')
    expect(asked).toHaveLength(2)
    await chat.addToolApprovalResponse({ id: asked[0]!.approval!.id, approved: true })
    await chat.addToolApprovalResponse({ id: asked[1]!.approval!.id, approved: false })
    await vi.waitUntil(() => chat.status === 'ready' && textOf(chat.messages[1]!).includes('Done.'), {
      timeout: 30_000,
    })
    expect(chat.messages).toHaveLength(2)
    const states = chat.messages[1]!.parts.flatMap(({ type, state }) => (type === 'dynamic-tool' ? state : []))
    expect(states).toEqual(['output-available', 'output-denied'])
    const loaded = await load('trip')
    expect(loaded.messages[1]!.parts.flatMap(({ type, state }) => (type === 'dynamic-tool' ? state : []))).toEqual(
      states,
    )
  })

  it.runIf(!hasApprovals)('has approvals as data, and goes on when they are decided elsewhere', async () => {
    await startAsking()
    const chat = open('trip')
    await chat.sendMessage({ text: 'Why?' })
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    const asked = chat.messages[1]!.parts.filter(({ type }) => type === 'data-approval')
    expect(asked).toHaveLength(2)
    for (const { data } of asked)
      await world.ada.approvals.decide((data as { call_id: string }).call_id, { approve: true })
    await vi.waitUntil(async () => textOf((await load('trip')).messages.at(-1)!).includes('Done.'), { timeout: 30_000 })
  })

  /** A transport of ours, whose streams are broken off behind so many bytes, once for each number. */
  function ours(...breaks: number[]) {
    const client = createChatClient({
      base_url: service.base_url,
      api_key: key,
      retry_ms: 1,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
        const left = isStream ? breaks.shift() : undefined
        return left === undefined ? response : new Response(brokenBehind(response.body!, left), response)
      },
    })
    return uiTransport(client, version === 5 ? { ui_version: '5' } : {})
  }

  function brokenBehind(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
    let left = bytes
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left))
        left -= chunk.length
        if (left <= 0) controller.error(new TypeError('terminated'))
      },
    })
    return body.pipeThrough(cut)
  }

  it('goes on by our transport where a stream is broken off, unseen by the hook; it loads, lists and stops', async () => {
    await start()
    const by = ours(1, 300, 700)
    const chat = open('trip', [], by)
    await send(chat, 'One?', 'First.')
    expect(texts(chat.messages)).toEqual([
      ['user', 'One?'],
      ['assistant', 'First.'],
    ])
    await send(chat, 'Two?', 'Second.')
    await send(chat, '', 'Second again.', () => chat.regenerate())
    expect(texts(await by.load('trip'))).toEqual([
      ['user', 'One?'],
      ['assistant', 'First.'],
      ['user', 'Two?'],
      ['assistant', 'Second again.'],
    ])
    expect((await by.list()).chats).toMatchObject([{ id: 'trip', title: 'One?' }])
    expect(await by.stop('trip')).toBe(false)

    expect(await by.reconnectToStream({ chatId: 'trip' })).toBeNull()
    // Chats of 6 and 7 look at it.
    expect(by.resumeStreamIsReplay).toBe(true)
    const sent = chat.sendMessage({ text: 'Three?' })
    const answer = await puppet.asked()
    answer.say('The ')
    const second = open('trip', (await by.load('trip')) as UiMessage[], ours(400))
    const resumed = second.resumeStream()
    answer.say('sky.')
    await vi.waitUntil(() => second.messages.length === 6 && textOf(second.messages[5]!) === 'The sky.', {
      timeout: 30_000,
    })
    expect(await by.stop('trip')).toBe(true)
    await Promise.all([sent, resumed])
    expect([chat.status, second.status]).toEqual(['ready', 'ready'])
    expect(textOf(chat.messages.at(-1)!)).toBe('The sky.')
  })

  it('has the reason of a refusal by our transport', async () => {
    await start()
    const chat = open('a b', [], ours())
    await chat.sendMessage({ text: 'Why?' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).not.toContain('{')
  })
})

it('has transports that all versions take', async () => {
  const folder = await mkdtemp(join(ROOT, 'test/tools/.types-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lines = [5, 6, 7].map(
    (version) =>
      `import type { ChatTransport as T${version}, UIMessage as M${version} } from 'ai${version}'\nexport const for${version}: T${version}<M${version}> = uiTransport(client)`,
  )
  const head = `import { createChatClient } from '../../../lib/client/index.ts'\nimport { uiTransport } from '../../../lib/client/ai/index.ts'\nconst client = createChatClient({ base_url: '' })`
  await writeFile(join(folder, 'transports.ts'), [head, ...lines].join('\n'))
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--allowImportingTsExtensions',
  ]
  const compiler = join(ROOT, 'test/tools/node_modules/typescript/bin/tsc')
  const compiled = await promisify(execFile)(process.execPath, [compiler, ...options, join(folder, 'transports.ts')], {
    cwd: folder,
  }).catch(({ stdout }: { stdout: string }) => ({ stdout }))
  expect(compiled.stdout).toBe('')
}, 120_000)
