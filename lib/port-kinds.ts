import { assertKinds, FUNCTION, type Kind, oneOf, TEXT, withFunctions } from './core/kinds.ts'
import type { Hooks, Ports } from './ports.ts'

const HOOK_KINDS: Record<keyof Hooks, Kind> = {
  beforeMessage: FUNCTION,
  beforeJoin: FUNCTION,
  beforeTool: FUNCTION,
  afterAnswer: FUNCTION,
  afterEvent: FUNCTION,
  failure: oneOf('refuse', 'pass'),
}

const PORT_KINDS: Record<keyof Ports, Kind> = {
  assistant: FUNCTION,
  assistants: { text: 'an object of assistants', accepts: isAssistants },
  tools: { text: 'an object of tools', accepts: isObject },
  identity: FUNCTION,
  mail: FUNCTION,
  notify: FUNCTION,
  meter: FUNCTION,
  scan: FUNCTION,
  thumbnail: FUNCTION,
  bus: withFunctions('publish', 'subscribe', 'close'),
  hooks: { text: 'an object of hooks', accepts: isObject },
  log: withFunctions('debug', 'info', 'warn', 'error'),
  operator: TEXT,
  now: FUNCTION,
  id: FUNCTION,
}

/** @throws TypeError for a port or a hook of another kind, such as a text for a function */
export function assertPorts(ports: Ports): void {
  assertKinds('createChatService', ports, PORT_KINDS)
  assertKinds('createChatService: hooks', ports.hooks ?? {}, HOOK_KINDS)
}

function isAssistants(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isObject)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
