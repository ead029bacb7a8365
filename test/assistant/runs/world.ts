import { afterEach, beforeEach, vi } from 'vitest'
import type { AnswerPiece, Assistant, AssistantRequest } from '../../../lib/assistant/provider.ts'
import type { DefinedTool, Ports } from '../../../lib/index.ts'
import { type ServiceOptions, startService, startThread, type TestService } from '../../support/service.ts'

/** What the model says in each step. */
export type Script = (request: AssistantRequest) => (AnswerPiece | Promise<AnswerPiece>)[]

/** An input of which everything is accepted. */
export const ANY = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
}

/** A call of a tool by the model. */
export const call = (name: string, input: unknown = {}): AnswerPiece => ({ tool_call: { name, input } })

/** A service whose assistant says what a script says, and what it was asked. */
export async function startScripted(
  url: string,
  { tools, script, assistant: settings = {}, ports, config: more, wrap }: ScriptedOptions,
): Promise<{ service: TestService; requests: AssistantRequest[] }> {
  const requests: AssistantRequest[] = []
  const assistant: Assistant = async function* (request) {
    const { open: _, signal: __, ...shown } = request
    requests.push(structuredClone(shown) as AssistantRequest)
    for (const piece of script(request)) yield await piece
  }
  const config = { ...more, assistant: { drain_seconds: 0, tools: Object.keys(tools), ...settings } }
  const service = await startService(url, { config, ports: { assistant, tools, ...ports }, ...(wrap && { wrap }) })
  return { service, requests }
}

export interface ScriptedOptions {
  tools: Record<string, DefinedTool>
  script: Script
  assistant?: object
  config?: object
  ports?: Ports
  wrap?: ServiceOptions['wrap']
}

/** Ada asks in a conversation in which Grace participates. */
export async function askIn(service: TestService) {
  const world = await startThread(service)
  return { ...world, ...(await ask(world)) }
}

/** Ada asks once more. */
export async function ask({
  ada,
  conversation_id,
}: Pick<Awaited<ReturnType<typeof startThread>>, 'ada' | 'conversation_id'>) {
  const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
  const read = () => ada.messages.get(message_id)
  const until = (statuses: readonly string[]) =>
    vi.waitUntil(async () => statuses.includes((await read()).status), { timeout: 30_000 })
  return {
    message_id,
    read,
    async untilEnded() {
      await until(['complete', 'failed', 'cancelled', 'interrupted'])
      return read()
    },
    untilWaiting: () => until(['waiting']),
    /** The calls of the answer, as its parts show them. */
    calls: async () => ((await read()).parts ?? []).filter((part) => part.type === 'tool'),
  }
}

/** For each test a new database, and services on it that are closed after the test. */
export function useServices(openUrl: () => Promise<string>) {
  const services: TestService[] = []
  let url = ''
  beforeEach(async () => {
    url = await openUrl()
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const service of services.splice(0)) await service.close()
  })
  return {
    services,
    url: () => url,
    async start(options: ScriptedOptions) {
      const started = await startScripted(url, options)
      services.push(started.service)
      return started
    },
  }
}
