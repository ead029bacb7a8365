import * as v from 'valibot'

const flag = (description: string) => v.pipe(v.boolean(), v.description(description))

/** The service behind the assistants. */
export const AgUiIdentity = v.object({
  name: v.optional(v.pipe(v.string(), v.description('The title of the first assistant'))),
  type: v.literal('chat-server'),
  version: v.string(),
})

export const AgUiTransport = v.object({
  streaming: v.literal(true),
  websocket: v.literal(false),
  httpBinary: v.literal(false),
  pushNotifications: v.literal(false),
  resumable: v.pipe(v.literal(false), v.description('A stream has no numbers: `connect` sends the whole answer again')),
})

/** A tool of the assistants. */
export const AgUiTool = v.object({ name: v.string(), description: v.string() })

export const AgUiTools = v.object({
  supported: flag('Whether one of the assistants has tools'),
  items: v.array(AgUiTool),
  parallelCalls: v.literal(true),
  clientProvided: v.pipe(v.literal(false), v.description('`tools` of a run are ignored')),
})

export const AgUiState = v.object({
  snapshots: v.pipe(v.literal(false), v.description('`state` of a run is ignored')),
  deltas: v.literal(false),
  persistentState: v.literal(false),
})

export const AgUiMultiAgent = v.object({ supported: v.literal(false) })

export const AgUiReasoning = v.object({
  supported: flag('Whether one of the assistants shows what its model writes before it answers'),
  streaming: v.literal(true),
  encrypted: v.literal(false),
})

export const AgUiHumanInTheLoop = v.object({
  supported: v.literal(true),
  approvals: flag('Whether one of the assistants has tools, whose calls may wait for participants'),
  interrupts: v.literal(true),
  approveWithEdits: v.literal(false),
})

/** An assistant that a run may name. */
export const AgUiAssistant = v.object({ key: v.string(), title: v.string(), default: v.optional(v.literal(true)) })

export const AgUiOwnCapabilities = v.object({
  assistants: v.pipe(v.array(AgUiAssistant), v.description('The assistants that `forwardedProps.assistant` may name')),
})

export const AgUiCustomCapabilities = v.object({ 'chat-server': AgUiOwnCapabilities })

/** What the assistants that the caller may ask can do, as AG-UI declares it. */
export const AgUiCapabilities = v.object({
  identity: AgUiIdentity,
  transport: AgUiTransport,
  tools: AgUiTools,
  state: AgUiState,
  multiAgent: AgUiMultiAgent,
  reasoning: AgUiReasoning,
  humanInTheLoop: AgUiHumanInTheLoop,
  custom: AgUiCustomCapabilities,
})
export type AgUiCapabilities = v.InferOutput<typeof AgUiCapabilities>
