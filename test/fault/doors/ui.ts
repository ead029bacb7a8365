import { setTimeout as sleep } from 'node:timers/promises'
import { type Door, firstFrame, PAUSE_MS, type Reading, readStream, send, type Visit } from './door.ts'

interface Frame {
  type: string
  delta?: string
  finishReason?: string
  messageId?: string
}

/** The AI SDK's UI message stream. */
export const ui: Door = {
  name: 'ui_stream',
  ends: { complete: 'finish', cancelled: 'abort', failed: 'error', interrupted: 'error' },

  async ask(caller, { content, key }) {
    const body = {
      id: `chat-${key}`,
      conversation_id: caller.conversation_id,
      messages: [{ id: key, role: 'user', parts: [{ type: 'text', text: content }] }],
    }
    const leave = new AbortController()
    const response = await send(caller, 'POST', '/api/ui/chat', { body, signal: leave.signal })
    const { messageId } = JSON.parse(await firstFrame(response)) as Frame
    leave.abort()
    return messageId!
  },

  read,

  async decide(caller, { message_id, call_id }, approve) {
    const part = { type: 'dynamic-tool', toolName: 'refund', toolCallId: call_id, state: 'approval-responded' }
    const parts = [{ ...part, approval: { id: call_id, approved: approve } }]
    // The id of the root is a name of its chat.
    const body = { id: message_id, messages: [{ id: message_id, role: 'assistant', parts }] }
    const leave = new AbortController()
    await firstFrame(await send(caller, 'POST', '/api/ui/chat', { body, signal: leave.signal }))
    leave.abort()
  },

  async stop(caller, message_id) {
    const body = { activeStreamId: message_id }
    await send(caller, 'POST', `/api/ui/chat/${message_id}/stop`, { body })
  },
}

/** Reads from the first row each time: what was there before must be the same. */
async function read(visit: Visit): Promise<Reading> {
  const frames: string[] = []
  const path = `/api/messages/${visit.asked.message_id}/ui-stream`
  for (;;) {
    let count = 0
    let waits = false
    const outcome = await readStream(visit, path, {
      known: frames.length,
      take(data) {
        if (data === '[DONE]') return 'last'
        // The end of a segment: whoever reads later, reads on.
        waits = (JSON.parse(data) as Frame).finishReason === 'tool-calls'
        if (waits) return
        const known = frames[count++]
        if (known === undefined) frames.push(data)
        else if (known !== data) visit.fault(`read ${data}, and before ${known}`)
      },
    })
    if (outcome === 'missing') visit.fault('the answer is unknown')
    if (outcome === 'over' && !waits) {
      if (count < frames.length) visit.fault(`read ${count} frames, and before ${frames.length}`)
      break
    }
    if (waits) await sleep(PAUSE_MS)
  }
  const all = frames.map((frame) => JSON.parse(frame) as Frame)
  const text = all.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('')
  return { text, end: all.at(-1)!.type, frames }
}
