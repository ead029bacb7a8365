import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { type Caller, type Door, PAUSE_MS, type Reading, readStream, send, type Visit } from './door.ts'

interface Event {
  type: string
  delta?: string
  messages?: { id: string; role: string; content?: string }[]
  outcome?: { type: string }
  metadata?: { 'chat-server'?: { message_id?: string } }
}

/** The body of a run, or of a connection. */
const inputOf = (threadId: string, runId: string, more: object = {}) => ({
  ...{ threadId, runId, protocolVersion: '1.0', state: {}, messages: [], tools: [], context: [], forwardedProps: {} },
  ...more,
})

/** Runs, and leaves once the run has begun. @returns the id of the answer */
async function run(caller: Caller, body: object): Promise<string> {
  const leave = new AbortController()
  const response = await send(caller, 'POST', '/api/ag-ui', { body, signal: leave.signal })
  for await (const { data } of readEvents(response.body!)) {
    leave.abort()
    return (JSON.parse(data) as Event).metadata!['chat-server']!.message_id!
  }
  throw new Error('The run has no event')
}

/** AG-UI. */
export const agUi: Door = {
  name: 'ag_ui',
  ends: { complete: 'success', cancelled: 'cancelled', failed: 'RUN_ERROR', interrupted: 'RUN_ERROR' },

  ask: (caller, { content, key }) =>
    run(
      caller,
      inputOf(`chat-${key}`, key, {
        messages: [{ id: key, role: 'user', content }],
        forwardedProps: { conversation_id: caller.conversation_id },
      }),
    ),

  read,

  // The id of the root is a name of its chat.
  async decide(caller, { message_id, call_id }, approve) {
    const resume = [{ interruptId: call_id, status: 'resolved', payload: { approved: approve } }]
    await run(caller, inputOf(message_id, `decide-${call_id}`, { resume }))
  },

  async stop(caller, message_id) {
    await send(caller, 'POST', '/api/ag-ui/stop', { body: { threadId: message_id, runId: message_id } })
  },
}

/** Connects until the answer has ended: before, it is sent from its first row; afterwards it is among the messages. */
async function read(visit: Visit): Promise<Reading> {
  const { message_id } = visit.asked
  for (;;) {
    let text = ''
    let end = ''
    const outcome = await readStream(visit, '/api/ag-ui/connect', {
      body: inputOf(message_id, message_id),
      take(data) {
        const event = JSON.parse(data) as Event
        if (event.type === 'TEXT_MESSAGE_CONTENT') text += event.delta
        for (const { id, role, content = '' } of event.messages ?? [])
          if (role === 'assistant' && id.startsWith(message_id)) text += content
        if (event.type !== 'RUN_FINISHED' && event.type !== 'RUN_ERROR') return undefined
        end = event.outcome?.type ?? event.type
        return 'last'
      },
    })
    if (outcome === 'missing') visit.fault('the answer is unknown')
    if (outcome === 'over' && end !== 'interrupt') return { text, end, frames: [] }
    if (outcome === 'over') await sleep(PAUSE_MS)
  }
}
