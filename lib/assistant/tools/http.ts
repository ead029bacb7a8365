import { approvalOf } from '../../config/approval.ts'
import type { ToolConfig } from '../../config/tools.ts'
import { lowerNamed } from '../../core/headers.ts'
import { type ConfiguredAnswer, callConfigured } from '../../outgoing/configured.ts'
import { OutgoingFailure } from '../../outgoing/failure.ts'
import { type ToolCall, ToolFailure } from './definition.ts'
import { checkedBySchema } from './json-schema.ts'
import { OutcomeUnknown, OutputTooLarge, type Tool } from './tool.ts'

/** How much of a response is read: more than an answer may have of one output. */
const MAX_BODY = 256 * 1024

/** The failures of a call after which it is certain that nothing was sent. */
const UNSENT = ['dns', 'connect', 'tls']

/** A tool that is called over HTTP. Its section has no missing key. */
export function toHttpTool(name: string, settings: ToolConfig, schema: object): Tool {
  const { title = name, idempotent = false, timeout_seconds = 30, show = 'all', approval } = settings
  const rule = approvalOf(approval)
  // The model needs no address of a standard.
  const { $schema: _, ...shown } = schema as { $schema?: unknown }
  const headers = lowerNamed(settings.headers)
  return {
    ...{ name, title, description: settings.description!, schema: shown, idempotent, timeout_seconds, show },
    fixedApproval: rule,
    validate: checkedBySchema(schema),
    approval: async () => rule,
    run: async (input, call) => ({ output: await callTool(settings.url!, headers, input, call), parts: [] }),
  }
}

async function callTool(
  url: string,
  headers: Record<string, string>,
  input: unknown,
  { call_id, attempt, assistant, message_id, conversation_id, user, signal }: ToolCall,
): Promise<unknown> {
  const { id, username, display_name, subject } = user
  const body = { call_id, input, attempt, assistant, message_id, conversation_id }
  const request = {
    method: 'POST',
    headers: {
      accept: 'application/json',
      ...headers,
      'content-type': 'application/json',
      'idempotency-key': call_id,
    },
    body: JSON.stringify({ ...body, user: { id, username, display_name, subject } }),
    max_body: MAX_BODY,
    signal,
  }
  try {
    return outputOf(await callConfigured(url, request))
  } catch (error) {
    if (!(error instanceof OutgoingFailure) || UNSENT.includes(error.reason)) throw error
    throw new OutcomeUnknown(`The tool gave no answer: ${error.reason}`, { cause: error })
  }
}

/**
 * The output in an answer.
 *
 * @throws ToolFailure with the text of a problem; OutcomeUnknown for an answer that does not say what has happened
 */
function outputOf(answer: ConfiguredAnswer): unknown {
  const { status } = answer
  const content = contentOf(answer)
  if (status >= 300 && status < 500) {
    if (typeof content.detail === 'string' && content.detail !== '') throw new ToolFailure(content.detail)
    throw new Error(`The tool answered with status ${status}`)
  }
  if (status < 200 || status >= 500) throw new OutcomeUnknown(`The tool answered with status ${status}`)
  if (!answer.is_whole) throw new OutputTooLarge(`The tool answered with more than ${MAX_BODY} bytes`)
  if (!Object.hasOwn(content, 'output')) throw new OutcomeUnknown('The tool answered with no { output }')
  return content.output
}

/** The JSON object in the body; an empty one if it has none. */
function contentOf({ body, is_whole }: ConfiguredAnswer): { output?: unknown; detail?: unknown } {
  if (!is_whole) return {}
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // Without an object it says nothing, whatever it is.
    return {}
  }
}
