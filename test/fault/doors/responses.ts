import { setTimeout as sleep } from 'node:timers/promises'
import { toResponseId } from '../../../lib/openai-api/responses/rules.ts'
import { toOpenAiId } from '../../../lib/openai-api/responses/rules-ids.ts'
import { type Door, PAUSE_MS, type Reading, readStream, send, type Visit } from './door.ts'

interface Item {
  type: string
  id: string
  approval_request_id?: string
}

interface Frame {
  type: string
  sequence_number: number
  delta?: string
  response?: { output: Item[] }
}

const LAST = ['response.completed', 'response.incomplete', 'response.failed']

/** Responses of OpenAI. */
export const responses: Door = {
  name: 'openai_api',
  ends: { complete: LAST[0]!, cancelled: LAST[1]!, failed: LAST[2]!, interrupted: LAST[2]! },

  async ask(caller, { content, key }) {
    const { conversation_id } = caller
    const made = await send(caller, 'POST', '/v1/conversations', { body: { metadata: { conversation_id } } })
    const { id: conversation } = (await made.json()) as { id: string }
    const body = { input: content, conversation, background: true }
    const asked = await send(caller, 'POST', '/v1/responses', { body, headers: { 'idempotency-key': key } })
    const { id } = (await asked.json()) as { id: string }
    return id.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  },

  read,

  async decide(caller, { call_id }, approve) {
    const approval_request_id = toOpenAiId('approval', call_id)
    const input = [{ type: 'mcp_approval_response', approval_request_id, approve }]
    await send(caller, 'POST', '/v1/responses', { body: { input, background: true } })
  },

  async stop(caller, message_id) {
    await send(caller, 'POST', `/v1/responses/${toResponseId(message_id, 1)}/cancel`)
  },
}

/** Reads each response of the answer behind the last event that the client has. */
async function read(visit: Visit): Promise<Reading> {
  const frames: string[] = []
  /** Those of all responses: a later one has not what waits since an earlier one. */
  const open = new Set<string>()
  let text = ''
  for (let segment = 1; ; segment++) {
    const last = await readSegment(visit, segment, (frame, { type, delta }) => {
      frames.push(`${segment} ${frame}`)
      if (type === 'response.output_text.delta') text += delta
    })
    for (const { type, id, approval_request_id } of last.response!.output) {
      if (type === 'mcp_approval_request') open.add(id)
      else if (approval_request_id) open.delete(approval_request_id)
    }
    if (last.type !== LAST[0] || open.size === 0) return { text, end: last.type, frames }
  }
}

async function readSegment(
  visit: Visit,
  segment: number,
  onFrame: (text: string, frame: Frame) => void,
): Promise<Frame> {
  let last: Frame | undefined
  const path = `/v1/responses/${toResponseId(visit.asked.message_id, segment)}?stream=true`
  for (;;) {
    const after = last ? `&starting_after=${last.sequence_number}` : ''
    const outcome = await readStream(visit, path + after, {
      take(data) {
        const frame = JSON.parse(data) as Frame
        const expected = (last?.sequence_number ?? -1) + 1
        if (frame.sequence_number !== expected) visit.fault(`event ${frame.sequence_number} instead of ${expected}`)
        last = frame
        onFrame(data, frame)
        return LAST.includes(frame.type) ? 'last' : undefined
      },
    })
    // Left behind the last event: the stream that is opened again has none.
    if (outcome === 'over' || (last && LAST.includes(last.type))) return last!
    if (outcome === 'missing' && segment === 1) visit.fault('the response is unknown')
    // Nobody has decided yet.
    if (outcome === 'missing') await sleep(PAUSE_MS)
  }
}
