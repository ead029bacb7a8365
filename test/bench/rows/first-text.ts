import { readEvents } from '../../../lib/client/event-stream.ts'
import { median, type Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople } from '../servers/people.ts'

const QUESTIONS = 50

/** A door adds little to what a question costs anyway: its own stream has the first text when that of the conversation has it. */
export const firstText: Row[] = onEachDatabase(
  async (database, { rounds }) => {
    const { people, places } = await createPeople(database, 1, [[0]])
    const { headers } = people[0]!
    const { conversation_id } = places[0]!
    return async ({ port }) => {
      const base = `http://127.0.0.1:${port}`
      const follower = await follow(base, headers, conversation_id)
      try {
        const round = async () => {
          const lags: number[] = []
          for (let n = 0; n < QUESTIONS; n++) {
            const { message_id, at } = await ask(base, headers, conversation_id)
            lags.push(at - (await follower.firstText(message_id)))
          }
          return { service: median(lags) }
        }
        await round()
        const measured = []
        for (let n = 0; n < rounds; n++) measured.push(await round())
        return measured
      } finally {
        follower.leave()
      }
    }
  },
  { CHAT_FEATURES__UI_STREAM: 'true' },
).map(({ suffix, on, ...measured }) => ({
  name: `first-text${suffix}`,
  title: `how much later than the stream of the conversation that of \`useChat\` has the first text of an answer${on}`,
  unit: 'ms',
  better: 'lower',
  reach: 20,
  beyond: 5,
  ...measured,
}))

type Headers = Record<string, string>

async function follow(base: string, headers: Headers, conversationId: string) {
  const controller = new AbortController()
  const response = await fetch(`${base}/api/stream/conversations/${conversationId}`, {
    headers,
    signal: controller.signal,
  })
  if (!response.ok) throw new Error(`the stream was answered with ${response.status}`)
  const times = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()
  void (async () => {
    for await (const { type, data } of readEvents(response.body!)) {
      if (type !== 'message.delta') continue
      const { message_id } = JSON.parse(data).payload as { message_id: string }
      if (times.has(message_id)) continue
      times.set(message_id, performance.now())
      waiting.get(message_id)?.(times.get(message_id)!)
    }
  })().catch(() => {})
  return {
    /** When the first text of an answer has come. */
    firstText: (messageId: string): Promise<number> =>
      new Promise((resolve) => {
        const at = times.get(messageId)
        if (at === undefined) waiting.set(messageId, resolve)
        else resolve(at)
      }),
    leave: () => controller.abort(),
  }
}

/** Asks, and reads the answer. @returns its id, and when its first text has come */
async function ask(base: string, headers: Headers, conversation_id: string) {
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Does it run?' }] }]
  const response = await fetch(`${base}/api/ui/chat`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ id: crypto.randomUUID(), conversation_id, messages }),
  })
  if (!response.ok) throw new Error(`a question was answered with ${response.status}: ${await response.text()}`)
  let message_id = ''
  let at: number | undefined
  for await (const { data } of readEvents(response.body!)) {
    if (data === '[DONE]') break
    const frame = JSON.parse(data) as { type: string; messageId?: string }
    if (frame.type === 'start') message_id = frame.messageId!
    if (frame.type === 'text-delta') at ??= performance.now()
  }
  if (at === undefined) throw new Error('an answer has no text')
  return { message_id, at }
}
