import { expect, it } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import {
  type Behaviour,
  diesAfter,
  refuses,
  stallsAfter,
  streams,
  streamsForEver,
  writes,
} from '../support/model-server.ts'
import { ANSWER_BYTES, KEY, startTalk, TENANT } from './talks.ts'

/** Longer than the provider waits: it does not call again. */
const LATER = { 'retry-after': '60' }

describeOnEachDatabase('answers of a model server', (openUrl) => {
  it('stream to the readers, and are complete with usage and finish reason', async () => {
    const { talk } = await startTalk(await openUrl(), streams('Light ', 'scatt', 'ers.'))
    const { events, message, produced } = await talk()
    const end = { finish_reason: 'stop', usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } }
    expect(message).toMatchObject({ status: 'complete', content: 'Light scatters.', ...end })
    expect(events.at(-1)!.event.payload).toMatchObject(end)
    expect([textOf(events), produced]).toEqual(['Light scatters.', 'Light scatters.'])
  })

  it('are requested with the configured key, headers and system prompt', async () => {
    const { model, talk } = await startTalk(await openUrl())
    await talk()
    const [call, ...more] = model.calls
    expect(more).toEqual([])
    expect(call!.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-tenant': TENANT })
    expect(call!.request).toEqual({
      model: 'tiny',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Why?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it.each<[code: string, what: string, behaviour: Behaviour, content: string]>([
    ['connection_lost', 'a server that dies midway', diesAfter('Light ', 'sc'), 'Light sc'],
    ['provider_error', 'a refusal', refuses(401, { error: { message: 'No such key' } }), ''],
    ['provider_error', 'a server that fails', refuses(500, '<h1>No</h1>', LATER), ''],
    ['provider_busy', 'a server that is busy', refuses(429, '', LATER), ''],
    ['invalid_answer', 'rubbish', writes('\u0000\ufffd\n'), ''],
    ['invalid_answer', 'rubbish midway', writes(said('Light '), 'data: {"choices"\n\n'), 'Light '],
  ])('fail with %s through %s, and keep the text so far', async (code, _, behaviour, content) => {
    const { talk } = await startTalk(await openUrl(), behaviour)
    const { events, message, produced } = await talk()
    expect(events.at(-2)!.event).toMatchObject({ type: 'message.failed', payload: { code } })
    if (code === 'provider_busy') expect(events.at(-2)!.event.payload).toMatchObject({ retry_after_seconds: 60 })
    expect(message).toMatchObject({ status: 'failed', finish_reason: 'failed', content })
    expect([textOf(events), produced]).toEqual([content, content])
  })

  it('without an end fail at the maximum length, and the connection to the server is closed', async () => {
    const piece = 'so it goes on '
    const { model, talk } = await startTalk(await openUrl(), streamsForEver(piece))
    const { events, message, produced } = await talk()
    expect(events.at(-2)!.event).toMatchObject({ type: 'message.failed', payload: { code: 'answer_too_long' } })
    const content = piece.repeat(Math.floor(ANSWER_BYTES / piece.length))
    expect(message).toMatchObject({ status: 'failed', content })
    expect([textOf(events), produced]).toEqual([content, content])
    await model.calls[0]!.closed
  })

  it('are cancelled while the server stalls, and the connection to it is closed', async () => {
    const { model, ada, stream, ask, read } = await startTalk(await openUrl(), stallsAfter('Light '))
    const { message_id } = await ask()
    await stream.until('message.delta')
    await ada.answers.cancel(message_id)
    await model.calls[0]!.closed
    expect(await read(message_id)).toMatchObject({ status: 'cancelled', content: 'Light ' })
  })

  it('never contain the key and the headers, even if the server repeats them', async () => {
    const words = `${KEY} and ${TENANT}`
    const { service, ada, lines, talk } = await startTalk(
      await openUrl(),
      refuses(401, { error: { message: words } }),
      writes(said('Light '), `error: ${words}\n\n`),
      writes(`${words}\n`),
      diesAfter('Light '),
      streams('Light'),
    )
    const seen: unknown[] = []
    for (const status of ['failed', 'failed', 'failed', 'failed', 'complete']) {
      const talked = await talk()
      expect(talked.message.status).toBe(status)
      seen.push(talked, await ada.threads.tree(talked.message.id))
    }
    expect(lines.filter((line) => line.includes('An answer failed'))).toHaveLength(4)
    seen.push(lines, await service.chat.ops.metrics(null))
    expect(JSON.stringify(seen)).not.toMatch(new RegExp(`${KEY}|${TENANT}`))
  })
})

/** A chunk of an answer as it is streamed. */
function said(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
}

/** The text of all deltas. */
function textOf(events: ReceivedEvent[]): string {
  return events
    .map(({ event }) => (event.type === 'message.delta' ? event.payload.choices[0]!.delta.content : ''))
    .join('')
}
