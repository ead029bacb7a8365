import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import * as keys from '../../accounts/api-keys/schema.ts'
import * as keysOfUsers from '../../accounts/api-keys/schema-admin.ts'
import * as audit from '../../accounts/audit/schema.ts'
import * as emails from '../../accounts/email-addresses/schema.ts'
import * as grants from '../../accounts/grants/schema.ts'
import * as identities from '../../accounts/identities/schema.ts'
import * as oauth from '../../accounts/oauth/schema.ts'
import * as resets from '../../accounts/password-resets/schema.ts'
import * as auth from '../../accounts/sessions/schema.ts'
import * as sessions from '../../accounts/sessions/schema-admin.ts'
import * as setup from '../../accounts/setup/schema.ts'
import * as signUps from '../../accounts/sign-ups/schema.ts'
import * as tokens from '../../accounts/tokens/schema.ts'
import * as users from '../../accounts/users/schema.ts'
import * as assistant from '../../chat/answers/schema.ts'
import * as answerContext from '../../chat/answers/schema-context.ts'
import * as answerParts from '../../chat/answers/schema-parts.ts'
import * as approvals from '../../chat/approvals/schema.ts'
import * as assistants from '../../chat/assistants/schema.ts'
import * as attachments from '../../chat/attachments/schema.ts'
import * as avatars from '../../chat/avatars/schema.ts'
import * as commands from '../../chat/commands/schema.ts'
import * as conversations from '../../chat/conversations/schema.ts'
import * as conversationAssistant from '../../chat/conversations/schema-assistant.ts'
import * as direct from '../../chat/conversations/schema-direct.ts'
import * as conversationMetadata from '../../chat/conversations/schema-metadata.ts'
import * as settings from '../../chat/conversations/schema-settings.ts'
import * as events from '../../chat/events/schema.ts'
import * as feed from '../../chat/feed/schema.ts'
import * as feedback from '../../chat/feedback/schema.ts'
import * as invites from '../../chat/invites/schema.ts'
import * as mentions from '../../chat/mentions/schema.ts'
import * as messages from '../../chat/messages/schema.ts'
import * as revisions from '../../chat/messages/schema-revisions.ts'
import * as metering from '../../chat/metering/schema.ts'
import * as notices from '../../chat/notices/schema.ts'
import * as notifications from '../../chat/notifications/schema.ts'
import * as pins from '../../chat/pins/schema.ts'
import * as presence from '../../chat/presence/schema.ts'
import * as reactions from '../../chat/reactions/schema.ts'
import * as receipts from '../../chat/receipts/schema.ts'
import * as rooms from '../../chat/rooms/schema.ts'
import * as search from '../../chat/search/schema.ts'
import * as streaming from '../../chat/streaming/schema.ts'
import * as threads from '../../chat/threads/schema.ts'
import * as timeline from '../../chat/timeline/schema.ts'
import * as unread from '../../chat/unread/schema.ts'
import * as usage from '../../chat/usage/schema.ts'
import * as nodes from '../../cluster/schema.ts'
import { RESULT_HEADERS } from '../../core/headers.ts'
import { CONVERSION } from '../../core/json-schema.ts'
import { Id, Instant, isOneNamed } from '../../core/schema.ts'
import { alternativesOf, entriesOf, nodeOf, type SchemaNode, schemaOf } from '../../core/schema-nodes.ts'
import type { AnyRoute } from '../../endpoint.ts'
import { routes } from '../../endpoints.ts'
import * as guests from '../../guests/schema.ts'
import * as bots from '../../integrations/bots/schema.ts'
import * as hooks from '../../integrations/hooks/schema.ts'
import * as webhooks from '../../integrations/webhooks/schema.ts'
import * as deliveries from '../../integrations/webhooks/schema-deliveries.ts'
import * as sent from '../../integrations/webhooks/schema-sent.ts'
import { SENT_EVENTS } from '../../integrations/webhooks/sent-events.ts'
import * as limits from '../../limits/schema.ts'
import * as merging from '../../merging/schema.ts'
import * as namedConversations from '../../openai-api/conversations/schema.ts'
import * as responses from '../../openai-api/responses/schema.ts'
import * as responseEvents from '../../openai-api/responses/schema-events.ts'
import * as responseInput from '../../openai-api/responses/schema-input.ts'
import * as compat from '../../openai-api/schema.ts'
import * as capabilities from '../../ops/capabilities/schema.ts'
import * as ops from '../../ops/schema.ts'
import * as agUi from '../../protocols/ag-ui/schema.ts'
import * as agUiCapabilities from '../../protocols/ag-ui/schema-capabilities.ts'
import * as agUiEvents from '../../protocols/ag-ui/schema-events.ts'
import * as agUiMessages from '../../protocols/ag-ui/schema-messages.ts'
import * as uiStream from '../../protocols/ui-stream/schema.ts'
import * as uiFrames from '../../protocols/ui-stream/schema-frames.ts'
import * as uiMessages from '../../protocols/ui-stream/schema-messages.ts'
import * as tasks from '../../tasks/schema.ts'
import { ExceededQuota, FieldProblem, Problem } from '../response/error-shapes.ts'
import { OpenApiDocument } from './document.ts'
import { toPortable } from './portable.ts'
import { reference } from './reference.ts'
import * as streams from './streams.ts'

/** A part of the document. */
export type Json = Record<string, unknown>

/** Every schema with a name in its feature has it in the document, too, and is used by reference. */
const FEATURES: object[] = [
  { Problem, FieldProblem, ExceededQuota, Id, Instant },
  assistant,
  assistants,
  answerContext,
  answerParts,
  attachments,
  audit,
  auth,
  avatars,
  capabilities,
  conversations,
  emails,
  events,
  feed,
  guests,
  bots,
  hooks,
  webhooks,
  deliveries,
  sent,
  identities,
  invites,
  keys,
  grants,
  keysOfUsers,
  tokens,
  limits,
  merging,
  mentions,
  messages,
  revisions,
  nodes,
  commands,
  notices,
  approvals,
  feedback,
  notifications,
  oauth,
  ops,
  pins,
  presence,
  reactions,
  receipts,
  rooms,
  search,
  streaming,
  resets,
  sessions,
  direct,
  conversationAssistant,
  conversationMetadata,
  settings,
  setup,
  signUps,
  tasks,
  threads,
  timeline,
  unread,
  uiStream,
  uiFrames,
  uiMessages,
  agUi,
  agUiCapabilities,
  agUiEvents,
  agUiMessages,
  usage,
  metering,
  users,
  streams,
  responses,
  namedConversations,
  responseEvents,
  responseInput,
  { OpenApiDocument },
  // With OpenAI's names, to keep them apart from the service's own.
  {
    Model: compat.Model,
    ModelChoice: compat.ModelChoice,
    ModelList: compat.Models,
    ChatMessage: compat.CompletionMessage,
    ChatMessageText: compat.TextContent,
    ChatMessageParts: compat.PartsContent,
    ChatMessagePart: compat.ContentPart,
    ChatMessageTextPart: compat.TextPart,
    ChatMessageOtherPart: compat.OtherPart,
    ChatStreamOptions: compat.StreamOptions,
    ChatCompletionInput: compat.CompletionInput,
    ChatCompletion: compat.Completion,
    ChatCompletionChoice: compat.CompletionChoice,
    ChatCompletionAnswer: compat.CompletionAnswer,
    ChatCompletionUsage: compat.CompletionUsage,
    ChatCompletionChunk: compat.CompletionChunk,
    ChatCompletionChunkChoice: compat.CompletionChunkChoice,
    ChatCompletionChunkUsage: compat.CompletionChunkUsage,
    ChatCompletionDelta: compat.CompletionDelta,
    ChatCompletionFailure: compat.CompatFailure,
    ChatCompletionError: compat.CompatError,
  },
]

const NAMED = new Map<v.GenericSchema, string>()
for (const [name, schema] of FEATURES.flatMap((feature) => Object.entries(feature))) {
  if (schema?.kind === 'schema' && ![...NAMED.values()].includes(name)) NAMED.set(schema, name)
}
// Each event by its type: `message.new` is a MessageNewEvent, with a MessageNewPayload.
for (const each of leavesOf(events.ConversationStreamEvent)) {
  const { payload } = entriesOf(nodeOf(each))!
  NAMED.set(each, `${toPascal(typeOf(each)!)}Event`)
  if (!NAMED.has(schemaOf(payload!))) NAMED.set(schemaOf(payload!), `${toPascal(typeOf(each)!)}Payload`)
}
// Events of the feed likewise: they share the payloads but that of the end of an answer.
for (const each of leavesOf(feed.FeedEvent)) {
  const { data } = entriesOf(nodeOf(each))!
  NAMED.set(each, `Feed${toPascal(typeOf(each)!)}Event`)
  if (!NAMED.has(schemaOf(data!))) NAMED.set(schemaOf(data!), `Feed${toPascal(typeOf(each)!)}Data`)
}
for (const [type, each] of SENT_EVENTS) NAMED.set(each, `Webhook${toPascal(type)}Event`)

/** Response fields that are sent as headers: no body has them. */
const SENT_AS_HEADERS = new Map<v.GenericSchema, string[]>()
for (const { output, response_headers } of Object.values<AnyRoute>(routes)) {
  const sent = Object.entries(RESULT_HEADERS).filter(([header]) => header in response_headers)
  if (output && sent.length > 0)
    SENT_AS_HEADERS.set(
      output,
      sent.map(([, field]) => field),
    )
}

const DEFINITIONS = Object.fromEntries([...NAMED].map(([schema, name]) => [name, schema]))

/** A schema as JSON Schema, with references to the named ones. */
export function convert(schema: v.GenericSchema): Json {
  const name = NAMED.get(schema)
  return name
    ? { $ref: reference(name) }
    : refer(toJsonSchema(schema, { ...CONVERSION, definitions: DEFINITIONS }) as Json, schema)
}

/** The named schemas that a part of the document refers to, by name. */
export function namedSchemasIn(part: unknown): Json {
  const schemas: Json = {}
  const look = (within: unknown) => {
    for (const [, name] of JSON.stringify(within).matchAll(/#\/components\/schemas\/(\w+)/g))
      if (Object.hasOwn(DEFINITIONS, name!) && !Object.hasOwn(schemas, name!)) {
        schemas[name!] = expand(DEFINITIONS[name!]!)
        look(schemas[name!])
      }
  }
  look(part)
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A schema as JSON Schema, not as a reference itself, with references to the others. */
export function expand(schema: v.GenericSchema): Json {
  if (isOneNamed(schema)) return oneOf((nodeOf(schema).options as SchemaNode[]).map(schemaOf))
  if (schema.type === 'variant' && leavesOf(schema).every((schema) => NAMED.has(schema))) return oneOf(leavesOf(schema))
  const name = NAMED.get(schema)
  return name ? refer(definitions()[name]!, schema) : convert(schema)
}

let converted: Record<string, Json> | undefined

/** All named schemas at once: converted one by one, each would convert all the others with it. */
function definitions(): Record<string, Json> {
  converted ??= toJsonSchemaDefs(DEFINITIONS, CONVERSION) as Record<string, Json>
  return converted
}

/**
 * A union of shapes, of which one fits. Shapes of events differ by their `type`, each has one value. There is no
 * `discriminator`, which would repeat that: with it, openapi-generator makes TypeScript that lacks its imports.
 */
function oneOf(variants: v.GenericSchema[]): Json {
  return { oneOf: variants.map((schema) => ({ $ref: reference(NAMED.get(schema)!) })) }
}

/** The flattened alternatives. */
function leavesOf(schema: v.GenericSchema): v.GenericSchema[] {
  return alternativesOf(nodeOf(schema)).map(schemaOf)
}

/** The literal `type` of an object, if it has one. */
function typeOf(schema: v.GenericSchema): string | undefined {
  return entriesOf(nodeOf(schema))!.type!.literal as string | undefined
}

/** Words with any separators in PascalCase: `not_found` is NotFound. */
export function toPascal(words: string): string {
  return words
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** @param schema the schema of this JSON Schema */
function refer({ $schema: _, $defs: __, ...json }: Json, schema: v.GenericSchema): Json {
  const portable = toPortable(JSON.parse(JSON.stringify(json).replaceAll('#/$defs/', reference(''))))
  for (const field of SENT_AS_HEADERS.get(schema) ?? []) delete (portable.properties as Json)[field]
  return portable
}
